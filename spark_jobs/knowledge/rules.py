"""When a finding is raised, with its thresholds and their sources. Findings judge the cluster, never our data."""

from spark_jobs.knowledge.model import Rule
from spark_jobs.knowledge.remedies import SESSION_TIMEOUT_MS

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="rebalances_frequent",
        severity="warning",
        subject_kind="group",
        says="{subject} rebalanced {count} times within 60 minutes, planned work left out",
        advice="Take the causes in the order of their counts; each names its own remedy.",
        source="more often than one in 10 minutes; netdata calls two or three an hour the limit of health",
        thresholds={"rebalances": 6, "minutes": 60},
    ),
    Rule(
        rule_id="rebalances_excessive",
        severity="critical",
        subject_kind="group",
        says="{subject} rebalanced {count} times within 60 minutes, planned work left out",
        advice="The group spends its time rebalancing. Take the causes in the order of their counts; a crash loop or an"
        " exceeded poll limit is the usual one.",
        source="more often than one in 5 minutes; netdata calls two or three an hour the limit of health",
        thresholds={"rebalances": 12, "minutes": 60},
    ),
    Rule(
        rule_id="member_silent",
        severity="critical",
        subject_kind="group",
        says="a member of {subject} was silent for {length} before it was heard again",
        advice="Look for long pauses (GC, suspended hosts, CPU limits) and network cuts of that member.",
        source="silent for more than 30 s: session timeout plus the time until it was heard again",
        thresholds={"ms": 30_000},
    ),
    Rule(
        rule_id="eager_often",
        severity="warning",
        subject_kind="group",
        says="{subject} rebalanced often with an assignor for which every member stops all its partitions: {told}",
        advice="Set partition.assignment.strategy to CooperativeStickyAssignor alone, in two rolling restarts: first"
        " beside the old one, then without it. A Java consumer that offers both still rebalances eagerly. Or use"
        " group.protocol=consumer where brokers are 4.0 or later. And see why the group rebalances so often.",
        source="KIP-429; ConsumerCoordinator takes the protocol that all offered assignors support; often: the rule"
        " rebalances_frequent",
        is_standing=True,
    ),
    Rule(
        rule_id="poll_below_session",
        severity="warning",
        subject_kind="group",
        says="{subject} allowed less time between two polls than a session lasts: {told}",
        advice="Set max.poll.interval.ms to at least session.timeout.ms, and well above the longest time that a batch"
        " takes: below it a slow batch costs the member its place sooner than a crash would.",
        source="librdkafka refuses such settings: max.poll.interval.ms must be >= session.timeout.ms; getsentry/sentry"
        " pull request 56219",
        is_standing=True,
    ),
    Rule(
        rule_id="heartbeat_slow",
        severity="warning",
        subject_kind="group",
        says="{subject} sent heartbeats less often than three times in a session: {told}",
        advice="Set heartbeat.interval.ms to a third of session.timeout.ms at most (by default 3 s of 45 s): two lost"
        " heartbeats then do not cost a living member its place.",
        source="Kafka's own words on heartbeat.interval.ms: no higher than a third of session.timeout.ms",
        thresholds={"share of the session": 1 / 3},
        is_standing=True,
    ),
    Rule(
        rule_id="settings_mixed",
        severity="warning",
        subject_kind="group",
        says="{subject} had members with different settings at the same time: {told}",
        advice="Give all members of a group the same settings, or finish the deployment that changes them. The longest"
        " poll limit among them is how long a rebalance may wait for everyone.",
        source="LinuxForHealth FHIR issue 2539: members of one group that are set up differently rebalance without"
        " end; the coordinator waits for the largest rebalance timeout (GroupMetadata.rebalanceTimeoutMs)",
        is_standing=True,
    ),
    Rule(
        rule_id="session_short",
        severity="info",
        subject_kind="group",
        says="{subject} used a session timeout below 30 s: {told}",
        advice="Leave session.timeout.ms at 45 s, Kafka's default since 3.0 (10 s before), unless a crash has to be"
        " noticed sooner; tests use less on purpose. Below request.timeout.ms, 30 s by default, one lost connection to"
        " the coordinator is enough to lose the member.",
        source="KIP-735: 45 s, so that one request timeout of 30 s and a retry fit into a session",
        thresholds={"ms": 30_000},
        is_standing=True,
    ),
    Rule(
        rule_id="static_membership_missing",
        severity="info",
        subject_kind="group",
        says="{subject} had members without group.instance.id that left and were back before a session would have"
        " run out: {told}",
        advice="Give each member a group.instance.id of its own and a session.timeout.ms longer than a restart takes: a"
        " static member that is back in time starts no rebalance.",
        source="KIP-345: static membership; how many restarts are many is our choice, as is the session where none is"
        " told, Kafka's default (KIP-735)",
        thresholds={"restarts": 3, "ms where no session is told": SESSION_TIMEOUT_MS},
        is_standing=True,
    ),
    Rule(
        rule_id="lag_growing",
        severity="warning",
        subject_kind="group",
        says="{subject} fell behind: its lag grew from {first} to {last} records",
        advice="See whether its members were rebalancing or slow; add members up to the number of partitions.",
        source="Burrow's rules for consumer lag (core/internal/evaluator/caching.go)",
    ),
    Rule(
        rule_id="leader_imbalance",
        severity="warning",
        subject_kind="broker",
        says="{elsewhere} of the {preferred} partitions that {subject} is preferred for were led elsewhere ({ratio})",
        advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or see why"
        " auto.leader.rebalance.enable has not; KRaft controllers ignore the percentage and move every leader.",
        source="leader.imbalance.per.broker.percentage, default 10, strictly above; KafkaController.scala",
        thresholds={"ratio": 0.10},
    ),
    Rule(
        rule_id="under_replicated",
        severity="warning",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than replicas at the last reading",
        advice="Find the broker that is missing from their ISR: see the outages and the ISR changes.",
        source="UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="under_min_isr",
        severity="critical",
        subject_kind="partition",
        says="{count} partitions had fewer in-sync replicas than min.insync.replicas: acks=all could not write",
        advice="Bring the missing replicas back first; lowering min.insync.replicas gives up durability.",
        source="UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="offline_partitions",
        severity="critical",
        subject_kind="partition",
        says="{subject} had no leader from {since} on{until}",
        advice="Bring a replica of its last ISR back. An unclean election brings it back sooner and loses records.",
        source="OfflinePartitionsCount, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="unclean_election",
        severity="critical",
        subject_kind="partition",
        says="{subject} elected a leader from outside its ISR: {lost}",
        advice="Compare what consumers and other systems hold with the topic, and set"
        " unclean.leader.election.enable=false where records must not be lost.",
        source="UncleanLeaderElectionsPerSec, normal 0 (Kafka operations guide)",
    ),
    Rule(
        rule_id="generations_missing",
        severity="warning",
        subject_kind="group",
        says="{subject} went from generation {after} to {next}, and nothing explains what lies between",
        advice="Give Hindsight the logs of every broker for this time; see the coverage.",
        source="a generation rises by one with each finished join phase (GroupCoordinator.scala)",
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

RULE_BY_ID: dict[str, Rule] = {rule.rule_id: rule for rule in RULES}

STANDING_RULES = frozenset(rule.rule_id for rule in RULES if rule.is_standing)
"""The rules about how things are set up: told after what happened."""
