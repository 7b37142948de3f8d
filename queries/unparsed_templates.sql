-- Which shapes of lines that matter does no pattern read, and how often do they occur?
SELECT
    cluster, logger, template,
    count(*) AS records,
    sum(line_count) AS lines,
    count(DISTINCT source) AS sources,
    min(happened_at) AS first_at,
    max(happened_at) AS last_at,
    min_by(text, (happened_at, line_id)) AS first_text
FROM quality.unparsed_lines
GROUP BY cluster, logger, template
ORDER BY records DESC, cluster, template;
