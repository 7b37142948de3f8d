-- What should a person know, worst first, and what is to be done about it?
SELECT cluster, severity, rule_id, subject_kind, subject, first_at, last_at, message, advice
FROM gold.findings
ORDER BY list_position(['critical', 'warning', 'info'], severity), first_at, cluster, rule_id, subject;
