"""Rules about consumer groups: their rebalances, the settings of their members, their lag."""

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.model import Rule

REBALANCES_FREQUENT = Rule(
    rule_id="rebalances_frequent",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="group",
    says="{subject} rebalanced {count} times within 60 minutes, not counting members restarted in turn or replaced",
    advice="Look at the causes in the order of their counts; each has its own advice. Until they are gone, commit in"
    " onPartitionsRevoked of a ConsumerRebalanceListener what was done: else each rebalance lets members read records"
    " again. Where the members are restarted on purpose, give each a group.instance.id.",
    source="more often than one in 10 minutes; netdata calls two or three an hour the limit of health",
    thresholds={"rebalances": 6, "minutes": 60},
)

REBALANCES_EXCESSIVE = Rule(
    rule_id="rebalances_excessive",
    severity="critical",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="group",
    says="{subject} rebalanced {count} times within 60 minutes, not counting members restarted in turn or replaced",
    advice="The group spends its time rebalancing. Look at the causes in the order of their counts; the usual ones"
    " are a crash loop and an exceeded max.poll.interval.ms. A longer session.timeout.ms mends neither. Records are"
    " read again after each rebalance, unless a ConsumerRebalanceListener commits in onPartitionsRevoked what was"
    " done.",
    source="more often than one in 5 minutes; netdata calls two or three an hour the limit of health",
    thresholds={"rebalances": 12, "minutes": 60},
)

MEMBER_SILENT = Rule(
    rule_id="member_silent",
    severity="critical",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="group",
    says="a member of {subject} was silent for {length} and then came back",
    advice="Look for long pauses (GC, suspended hosts, CPU limits) and network partitions of that member. It may have"
    " processed records that another member read meanwhile: in onPartitionsLost of a ConsumerRebalanceListener let it"
    " drop what it holds, and do not commit there.",
    source="silent for more than 30 s: session timeout plus the time until it was heard again",
    thresholds={"ms": 30_000},
)

EAGER_OFTEN = Rule(
    rule_id="eager_often",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} rebalanced often with an eager assignor, so that every member stopped all its partitions:"
    " {details}",
    advice="Set partition.assignment.strategy to CooperativeStickyAssignor alone. Members that list both assignors, as"
    " Java consumers do by default, still rebalance eagerly, and need one rolling restart. Members that list the old"
    " one alone need two: first both, then the new one alone. With brokers from 4.0 on group.protocol=consumer does the"
    " same. Find out too why the group rebalances so often.",
    source="KIP-429; ConsumerCoordinator takes the protocol that all offered assignors support; often: the rule"
    " rebalances_frequent",
    is_standing=True,
)

POLL_BELOW_SESSION = Rule(
    rule_id="poll_below_session",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} allowed less time between two polls than a session lasts: {details}",
    advice="Set max.poll.interval.ms to at least session.timeout.ms, and well above the longest time that a batch"
    " takes. Otherwise a slow batch removes the member sooner than a crash would.",
    source="librdkafka refuses such settings: max.poll.interval.ms must be >= session.timeout.ms; getsentry/sentry"
    " pull request 56219",
    is_standing=True,
)

HEARTBEAT_SLOW = Rule(
    rule_id="heartbeat_slow",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} sent fewer than three heartbeats in a session: {details}",
    advice="Set heartbeat.interval.ms to a third of session.timeout.ms at most (by default 3 s of 45 s). Then two"
    " lost heartbeats do not remove a living member.",
    source="Kafka's own words on heartbeat.interval.ms: no higher than a third of session.timeout.ms",
    thresholds={"share of the session": 1 / 3},
    is_standing=True,
)

SETTINGS_MIXED = Rule(
    rule_id="settings_mixed",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} had members with different settings at the same time: {details}",
    advice="Give all members of a group the same settings, or finish the deployment that changes them. A rebalance"
    " may wait as long as the longest max.poll.interval.ms among them.",
    source="LinuxForHealth FHIR issue 2539: members of one group that are set up differently rebalance without"
    " end; the coordinator waits for the largest rebalance timeout (GroupMetadata.rebalanceTimeoutMs)",
    is_standing=True,
)

SESSION_SHORT = Rule(
    rule_id="session_short",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="group",
    says="{subject} used a session timeout below 30 s: {details}",
    advice="Leave session.timeout.ms at 45 s, Kafka's default since 3.0 (10 s before), unless a crash has to be"
    " detected sooner; tests use less on purpose. Below request.timeout.ms, 30 s by default, one lost"
    " connection to the coordinator is enough to lose the member.",
    source="KIP-735: 45 s, so that one request timeout of 30 s and a retry fit into a session",
    thresholds={"ms": 30_000},
    is_standing=True,
)

LAG_GROWING = Rule(
    rule_id="lag_growing",
    severity="warning",
    harm=Harm.LAG_GREW,
    subject_kind="group",
    says="{subject} had partitions that stood still or fell behind: their lag grew from {first} to {most} records",
    advice="Of a partition that stands alone, look for a record that its owner cannot process, or for a pause of that"
    " partition. Where all of an owner stand, look at its log and threads. Where a group falls behind, add members, up"
    " to the number of partitions.",
    source="Burrow's rules for consumer lag (core/internal/evaluator/caching.go), for partitions that have an owner",
)

RULES: tuple[Rule, ...] = (
    REBALANCES_FREQUENT,
    REBALANCES_EXCESSIVE,
    MEMBER_SILENT,
    EAGER_OFTEN,
    POLL_BELOW_SESSION,
    HEARTBEAT_SLOW,
    SETTINGS_MIXED,
    SESSION_SHORT,
    LAG_GROWING,
)
