"""Rules about what could not be seen: readings, lines and generations that are missing."""

from spark_jobs.knowledge.model import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="generations_missing",
        severity="warning",
        subject_kind="group",
        says="{subject} went from generation {after} to {next}, and nothing explains what lies between",
        advice="Give Hindsight the logs of every broker for this time; see the coverage.",
        source="a generation rises by one with each finished join phase (GroupCoordinator.scala)",
    ),
    Rule(
        rule_id="leaderships_unseen",
        severity="warning",
        subject_kind="partition",
        says="{subject}: nobody saw who led, in {breaks} breaks of leader epochs; in {returns} of them a failover and a"
        " return are possible",
        advice="Give Hindsight the state-change logs of every broker for this time, and the controllers' logs; see"
        " quality.leadership_gaps for each break.",
        source="each change of leader raises the leader epoch by one (PartitionRegistration.merge,"
        " LeaderAndIsr.newLeaderAndIsr)",
    ),
    Rule(
        rule_id="broker_log_missing",
        severity="warning",
        subject_kind="broker",
        says="no log of {subject} was read, though others name it{less}",
        advice="Give Hindsight its logs: server.log, state-change.log and controller.log. Until then its absences are"
        " told by others only, and a crash cannot be told from a pause.",
        source="quality.coverage has one row for each log that was read",
    ),
    Rule(
        rule_id="group_unanswered",
        severity="info",
        subject_kind="group",
        says="{subject}: {count} times a reading of the cluster got no answer, and concludes nothing",
        advice="The coordinator was away or slow at these times; see the outages.",
        source="docs/design.md section 7: what did not answer concludes nothing",
    ),
    Rule(
        rule_id="reading_partial",
        severity="info",
        subject_kind="reading",
        says="readings of the cluster that lack {part}, wholly or in part: {count}. The first says: {reason}",
        advice="Brokers that were away or slow explain a few; where every reading lacks a part, see docs/live.md for"
        " the rights that it needs.",
        source="docs/design.md section 7: what did not answer concludes nothing",
    ),
    Rule(
        rule_id="lines_unread",
        severity="warning",
        subject_kind="source",
        says="{count} lines of {subject} matter and could not be read",
        advice="See quality.unparsed_lines for their shapes; a version that Hindsight does not know yet writes them.",
        source="docs/design.md section 1: every physical line is accounted for",
    ),
    Rule(
        rule_id="lines_quarantined",
        severity="warning",
        subject_kind="source",
        says="{count} lines of {subject} are broken and lie in quarantine",
        advice="See quality.quarantine for what is wrong with each.",
        source="docs/design.md section 1: what is broken is kept, counted and reported",
    ),
)
