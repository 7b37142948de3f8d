"""Rules about how topics and brokers are set up to outlive the loss of a broker, a rack or a disk."""

from spark_jobs.knowledge.model import Rule
from spark_jobs.knowledge.remedies import SESSION_TIMEOUT_MS

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="replication_factor_one",
        severity="critical",
        subject_kind="topic",
        says="{subject} kept one replica only, while {brokers} brokers were there: {told}. Whatever takes that broker"
        " takes the partition, and its disk the records",
        advice="Give it more replicas: kafka-reassign-partitions.sh with a plan that lists three brokers for each"
        " partition. Where records may be lost, say so in the topic's name and leave it.",
        source="Kafka operations guide: replication; Amazon MSK and Confluent ask for 3",
        thresholds={"replicas": 1},
        is_standing=True,
    ),
    Rule(
        rule_id="replication_factor_low",
        severity="warning",
        subject_kind="topic",
        says="{subject} kept fewer than three replicas, while {brokers} brokers were there: {told}",
        advice="Give it three replicas (kafka-reassign-partitions.sh): with two, each restart of a broker leaves one"
        " copy, or stops writes with acks=all.",
        source="Conduktor and common practice: 3 where three brokers are; Kafka's offsets.topic.replication.factor is 3"
        " for the same reason",
        thresholds={"replicas": 3},
        is_standing=True,
    ),
    Rule(
        rule_id="min_isr_low",
        severity="warning",
        subject_kind="topic",
        says="{subject} took writes with acks=all from its leader alone: min.insync.replicas is 1 of three replicas or"
        " more: {told}",
        advice="Set min.insync.replicas to 2 (kafka-configs.sh --alter --entity-type topics) and let producers use"
        " acks=all, the default since 3.0: then one lost broker costs neither records nor writes. What brokers do not"
        " tell Hindsight cannot see: the acks and enable.idempotence of producers, the isolation.level of consumers."
        " With acks=1 or 0 no setting of a topic keeps records safe.",
        source="Kafka's own words on min.insync.replicas: 3 replicas, min.insync.replicas of 2, acks of all",
        thresholds={"in sync": 1, "replicas": 3},
        is_standing=True,
    ),
    Rule(
        rule_id="min_isr_equals_replication",
        severity="warning",
        subject_kind="topic",
        says="{subject} asked that all its replicas be in sync: min.insync.replicas equals their number: {told}. Each"
        " restart of a broker stops its writes with acks=all",
        advice="Set min.insync.replicas one below the number of replicas, or give the topic one replica more.",
        source="Partition.appendRecordsToLeader, NotEnoughReplicasException; kcpilot calls a margin of 0 critical",
        thresholds={"margin": 0},
        is_standing=True,
    ),
    Rule(
        rule_id="min_isr_above_replication",
        severity="critical",
        subject_kind="topic",
        says="{subject} asked for more replicas in sync than it has: {told}. Brokers before 3.7 refuse every write with"
        " acks=all; later ones take the number of replicas instead",
        advice="Lower min.insync.replicas below the number of replicas, or add replicas.",
        source="Partition.effectiveMinIsr, KAFKA-15583 (3.7); linkedin/cruise-control issue 319",
        thresholds={"margin": -1},
        is_standing=True,
    ),
    Rule(
        rule_id="unclean_election_enabled",
        severity="warning",
        subject_kind="topic",
        says="{subject} may elect a leader that is not in sync: unclean.leader.election.enable is true: {told}",
        advice="Set unclean.leader.election.enable=false where records must not be lost; leave it only where being"
        " served matters more than what was written.",
        source="KIP-106: false by default since 0.11; Kafka's own words: doing so may result in data loss",
        is_standing=True,
    ),
    Rule(
        rule_id="replicas_in_one_rack",
        severity="warning",
        subject_kind="topic",
        says="{subject} kept all replicas of a partition in one rack, though there are {racks}: {told}",
        advice="Spread them: kafka-reassign-partitions.sh --generate places by rack where every broker tells its own.",
        source="KIP-36; Cruise Control's RackAwareGoal",
        is_standing=True,
    ),
    Rule(
        rule_id="offsets_topic_weak",
        severity="critical",
        subject_kind="topic",
        says="{subject} keeps every group's offsets and members with too few replicas: {told}. With its broker goes the"
        " coordinator of every group that lives there",
        advice="Give __consumer_offsets three replicas (kafka-reassign-partitions.sh), and offsets.topic.replication"
        ".factor=3 for clusters to come: the setting only counts when the topic is made.",
        source="offsets.topic.replication.factor, default 3; Kafka's own words: set higher to ensure availability",
        thresholds={"replicas": 3},
        is_standing=True,
    ),
    Rule(
        rule_id="transaction_topic_weak",
        severity="warning",
        subject_kind="topic",
        says="{subject} keeps, or will keep, the state of all transactions with too few replicas: {told}",
        advice="Set transaction.state.log.replication.factor=3 and transaction.state.log.min.isr=2 before a producer"
        " uses transactions; where the topic is there already, reassign it and set its min.insync.replicas.",
        source="transaction.state.log.replication.factor, default 3, and transaction.state.log.min.isr, default 2",
        thresholds={"replicas": 3, "in sync": 2},
        is_standing=True,
    ),
    Rule(
        rule_id="default_replication_low",
        severity="info",
        subject_kind="cluster",
        says="{subject} gives a topic that names no number of its own fewer than three replicas:"
        " default.replication.factor is {told}",
        advice="Set default.replication.factor=3 on every broker, and auto.create.topics.enable=false where a typing"
        " error should not make a topic.",
        source="default.replication.factor, default 1; KIP-464: also for topics made with a factor of -1",
        thresholds={"replicas": 3},
        is_standing=True,
    ),
    Rule(
        rule_id="settings_differ",
        severity="warning",
        subject_kind="cluster",
        says="the brokers of {subject} are not set up alike: {told}. What holds depends on who leads",
        advice="Give all brokers the same, best as a cluster-wide default: kafka-configs.sh --entity-type brokers"
        " --entity-default.",
        source="Kafka operations guide: topics inherit the setting of the broker that leads; our choice of settings",
        is_standing=True,
    ),
    Rule(
        rule_id="racks_missing",
        severity="warning",
        subject_kind="cluster",
        says="some brokers of {subject} tell no rack: {told}. Replicas are then spread as if those lay apart, or not by"
        " rack at all",
        advice="Set broker.rack on every broker; then reassign the topics that were placed without.",
        source="KIP-36: rack awareness needs the rack of every broker; kcpilot",
        is_standing=True,
    ),
    Rule(
        rule_id="racks_unknown",
        severity="info",
        subject_kind="cluster",
        says="no broker of {subject} tells a rack, or all tell the same: {told}. Nothing keeps the replicas of a"
        " partition from one power supply or zone",
        advice="Set broker.rack where hosts share a rack, a zone or a power supply; leave it where they do not.",
        source="KIP-36; kcpilot: rack missing, or all the same",
        is_standing=True,
    ),
    Rule(
        rule_id="auto_rebalance_off",
        severity="info",
        subject_kind="cluster",
        says="brokers of {subject} do not lead again what they are preferred for: auto.leader.rebalance.enable is"
        " false",
        advice="Run kafka-leader-election.sh --election-type preferred after each restart, or set"
        " auto.leader.rebalance.enable=true. A cluster that Cruise Control looks after wants it false.",
        source="auto.leader.rebalance.enable, default true",
        is_standing=True,
    ),
    Rule(
        rule_id="session_bounds",
        severity="warning",
        subject_kind="cluster",
        says="brokers of {subject} refuse the session timeout that clients use by default: {told}",
        advice="Let group.min.session.timeout.ms be 6 s and group.max.session.timeout.ms 30 min, their defaults: bounds"
        " that shut out 45 s force every consumer to a setting of its own, or fail it with InvalidSessionTimeout.",
        source="KIP-735: clients use 45 s since 3.0; GroupCoordinatorService.joinGroup, INVALID_SESSION_TIMEOUT",
        thresholds={"ms": SESSION_TIMEOUT_MS},
        is_standing=True,
    ),
    Rule(
        rule_id="consumer_sessions_short",
        severity="warning",
        subject_kind="cluster",
        says="brokers of {subject} give members of the consumer protocol little time: {told}",
        advice="Leave group.consumer.session.timeout.ms at 45 s and group.consumer.heartbeat.interval.ms at 5 s: under"
        " KIP-848 the brokers decide for every client, and a heartbeat must fit three times into a session.",
        source="KIP-848: 45 s and 5 s; below 30 s one lost connection is enough to lose a member (KIP-735)",
        thresholds={"ms": 30_000, "share of the session": 1 / 3},
        is_standing=True,
    ),
)
