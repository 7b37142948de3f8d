"""Rules about missing data: readings, lines and generations."""

from kafka_hindsight.catalog.codes import FailoverKind
from kafka_hindsight.knowledge.model import Rule

GENERATIONS_MISSING = Rule(
    rule_id="generations_missing",
    severity="warning",
    harm=None,
    subject_kind="group",
    says="{subject} went from generation {after} to {next}; no event explains the generations between",
    advice="Give Hindsight the logs of every broker for this time. See the coverage.",
    source="a generation rises by one with each finished join phase (GroupCoordinator.scala)",
)

LEADERSHIPS_UNSEEN = Rule(
    rule_id="leaderships_unseen",
    severity="warning",
    harm=None,
    subject_kind="partition",
    says="{subject}: the leader is unknown in {breaks}{returns}",
    advice=FailoverKind.UNKNOWN.noun.advice,
    source="each change of leader raises the leader epoch by one (PartitionRegistration.merge,"
    " LeaderAndIsr.newLeaderAndIsr)",
)

BROKER_LOG_MISSING = Rule(
    rule_id="broker_log_missing",
    severity="warning",
    harm=None,
    subject_kind="broker",
    says="no log of {subject} was read, although other logs name it{less}",
    advice="Give Hindsight its logs: server.log, state-change.log and controller.log. Until then only other brokers"
    " report its outages, and a crash looks the same as a pause.",
    source="quality.coverage has one row for each log that was read",
)

CLOCKS_DIFFER = Rule(
    rule_id="clocks_differ",
    severity="warning",
    harm=None,
    subject_kind="broker",
    says="{clocks} by {by}: {proof}. What spans these clocks is possible at most, and may be shown twice",
    advice="Let all brokers keep time by NTP, and write their logs in one zone or with a date that names its zone:"
    " compare TZ of the brokers with LOGS_TZ. Then audit the window again.",
    source="two brokers name a leader epoch when each of them hears of it (Partition.makeLeader, makeFollower)",
)

BROKER_UNOBSERVED = Rule(
    rule_id="broker_unobserved",
    severity="warning",
    harm=None,
    subject_kind="broker",
    says="nothing shows whether {subject} was up, {times}, for up to {longest}: neither its own log nor a"
    " controller's has a line of that time",
    advice="Give Hindsight the files of these hours, where there are any: while its machine is off, a broker writes"
    " none. Until then no absence of that time is known, and what is known just before and after is less certain.",
    source="quality.unobserved_spans has a row for each",
)

GROUP_UNANSWERED = Rule(
    rule_id="group_unanswered",
    severity="info",
    harm=None,
    subject_kind="group",
    says="{subject} gave no answer in {readings}: {reason}",
    advice="The reason decides: a coordinator that was away, slow or loading, a client that asked a former one, or a"
    " missing right.",
    source="docs/design.md section 7: what did not answer concludes nothing",
)

READING_PARTIAL = Rule(
    rule_id="reading_partial",
    severity="info",
    harm=None,
    subject_kind="reading",
    says="{readings}. The first says: {reason}",
    advice="A few are explained by brokers that were down or slow. If every reading lacks a part, see docs/live.md"
    " for the rights that it needs.",
    source="docs/design.md section 7: what did not answer concludes nothing",
)

LINES_UNREAD = Rule(
    rule_id="lines_unread",
    severity="warning",
    harm=None,
    subject_kind="source",
    says="no pattern matches {lines} of {subject}, whose loggers matter",
    advice="See quality.unparsed_lines for their shapes. A Kafka version that Hindsight does not know yet may have"
    " written them.",
    source="docs/design.md section 1: every physical line is accounted for",
)

LINES_QUARANTINED = Rule(
    rule_id="lines_quarantined",
    severity="warning",
    harm=None,
    subject_kind="source",
    says="{subject} has {lines} in quarantine, since it is damaged",
    advice="See quality.quarantine for what is wrong with each.",
    source="docs/design.md section 1: what is broken is kept, counted and reported",
)

LINES_LOST = Rule(
    rule_id="lines_lost",
    severity="warning",
    harm=None,
    subject_kind="source",
    says="lines of {subject} are lost: {reason}",
    advice="Run kafka_collect more often than lines are removed, or let them be kept longer: rotate a file by a new"
    " name, and keep it until it was read. What these lines would have shown is not known: see the coverage.",
    source="docs/sources.md, late and lost lines",
)

RULES: tuple[Rule, ...] = (
    GENERATIONS_MISSING,
    LEADERSHIPS_UNSEEN,
    BROKER_LOG_MISSING,
    CLOCKS_DIFFER,
    BROKER_UNOBSERVED,
    GROUP_UNANSWERED,
    READING_PARTIAL,
    LINES_UNREAD,
    LINES_QUARANTINED,
    LINES_LOST,
)

UNSEEN = {
    GENERATIONS_MISSING.rule_id: "some generations of {}",
    LEADERSHIPS_UNSEEN.rule_id: "who led {} for a while",
    BROKER_LOG_MISSING.rule_id: "all logs of {}",
    CLOCKS_DIFFER.rule_id: "the true times of {}",
    GROUP_UNANSWERED.rule_id: "{} that did not answer in some readings",
    READING_PARTIAL.rule_id: "parts of some readings",
    LINES_UNREAD.rule_id: "lines that match no pattern",
    LINES_QUARANTINED.rule_id: "damaged lines",
    LINES_LOST.rule_id: "lines that {} did not keep",
}
"""The missing input that each of these rules names, in a few words; braces stand for its subjects, by their number."""

UNREAD = frozenset({LINES_UNREAD.rule_id, LINES_QUARANTINED.rule_id})
"""The rules that count lines, each of one source."""

BY_CAUSE = frozenset({GROUP_UNANSWERED.rule_id})
"""The rules that name the same subjects once for each cause: the finding with most of them has as many as are sure."""
