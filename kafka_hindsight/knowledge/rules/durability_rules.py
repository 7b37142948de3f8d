"""Rules about settings of topics and brokers that decide whether the loss of a broker, a rack or a disk does harm."""

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS

REPLICATION_FACTOR_ONE = Rule(
    rule_id="replication_factor_one",
    severity="critical",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} had a single replica, although the cluster had {brokers} brokers: {details}. The partition is"
    " offline while its broker is down, and one disk holds the only copy",
    advice="Add replicas: run kafka-reassign-partitions.sh with a plan that lists three brokers for each partition."
    " If the records may be lost, say so in the topic's name and leave it as it is.",
    source="Kafka operations guide: replication; Amazon MSK and Confluent ask for 3",
    thresholds={"replicas": 1},
    is_standing=True,
)

REPLICATION_FACTOR_LOW = Rule(
    rule_id="replication_factor_low",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} had fewer than three replicas, although the cluster had {brokers} brokers: {details}",
    advice="Give it three replicas (kafka-reassign-partitions.sh). With two replicas, each restart of a broker"
    " leaves a single copy, or stops writes with acks=all.",
    source="Conduktor and common practice: 3 where three brokers are; Kafka's offsets.topic.replication.factor is 3"
    " for the same reason",
    thresholds={"replicas": 3},
    is_standing=True,
)

MIN_ISR_LOW = Rule(
    rule_id="min_isr_low",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} accepted writes with acks=all from its leader alone: min.insync.replicas is 1 of three"
    " replicas or more: {details}",
    advice="Set min.insync.replicas to 2 (kafka-configs.sh --alter --entity-type topics) and let producers use"
    " acks=all, the default since 3.0. Then the loss of one broker costs neither records nor writes. Brokers"
    " do not report the acks and enable.idempotence of producers; the logs of Java producers do (see weakest_link)."
    " With acks=1 or 0 no setting of a topic keeps records safe.",
    source="Kafka's own words on min.insync.replicas: 3 replicas, min.insync.replicas of 2, acks of all",
    thresholds={"in sync": 1, "replicas": 3},
    is_standing=True,
)

MIN_ISR_EQUALS_REPLICATION = Rule(
    rule_id="min_isr_equals_replication",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} required all its replicas to be in sync: min.insync.replicas equals their number: {details}."
    " Each restart of a broker stops its writes with acks=all",
    advice="Set min.insync.replicas one below the number of replicas, or add a replica.",
    source="Partition.appendRecordsToLeader, NotEnoughReplicasException; kcpilot calls a margin of 0 critical",
    thresholds={"margin": 0},
    is_standing=True,
)

MIN_ISR_ABOVE_REPLICATION = Rule(
    rule_id="min_isr_above_replication",
    severity="critical",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} required more in-sync replicas than it has replicas: {details}. Brokers before 3.7 reject every"
    " write with acks=all; later ones use the number of replicas instead",
    advice="Lower min.insync.replicas below the number of replicas, or add replicas.",
    source="Partition.effectiveMinIsr, KAFKA-15583 (3.7); linkedin/cruise-control issue 319",
    thresholds={"margin": -1},
    is_standing=True,
)

UNCLEAN_ELECTION_ENABLED = Rule(
    rule_id="unclean_election_enabled",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} may elect a leader that is not in sync: unclean.leader.election.enable is true: {details}",
    advice="Set unclean.leader.election.enable=false if records must not be lost. Leave it true only if"
    " availability matters more than records.",
    source="KIP-106: false by default since 0.11; Kafka's own words: doing so may result in data loss",
    is_standing=True,
)

REPLICAS_IN_ONE_RACK = Rule(
    rule_id="replicas_in_one_rack",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} had all replicas of a partition in one rack, although there are {racks}: {details}",
    advice="Spread them: kafka-reassign-partitions.sh --generate places replicas by rack if every broker has a"
    " broker.rack.",
    source="KIP-36; Cruise Control's RackAwareGoal",
    is_standing=True,
)

OFFSETS_TOPIC_WEAK = Rule(
    rule_id="offsets_topic_weak",
    severity="critical",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} holds the offsets and members of every group and has too few replicas: {details}. If its broker"
    " stops, the groups that it coordinates have no coordinator",
    advice="Give __consumer_offsets three replicas (kafka-reassign-partitions.sh). Set"
    " offsets.topic.replication.factor=3 for new clusters: the setting counts only when the topic is"
    " created.",
    source="offsets.topic.replication.factor, default 3; Kafka's own words: set higher to ensure availability",
    thresholds={"replicas": 3},
    is_standing=True,
)

TRANSACTION_TOPIC_WEAK = Rule(
    rule_id="transaction_topic_weak",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject}, the state of all transactions, has too few replicas: {details}",
    advice="Set transaction.state.log.replication.factor=3 and transaction.state.log.min.isr=2 before a producer"
    " uses transactions. If the topic exists already, reassign it and set its min.insync.replicas.",
    source="transaction.state.log.replication.factor, default 3, and transaction.state.log.min.isr, default 2",
    thresholds={"replicas": 3, "in sync": 2},
    is_standing=True,
)

DEFAULT_REPLICATION_LOW = Rule(
    rule_id="default_replication_low",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="{subject} creates a topic with fewer than three replicas if the topic names no number of its own:"
    " default.replication.factor is {details}",
    advice="Set default.replication.factor=3 on every broker, and auto.create.topics.enable=false if a typing error"
    " must not create a topic.",
    source="default.replication.factor, default 1; KIP-464: also for topics made with a factor of -1",
    thresholds={"replicas": 3},
    is_standing=True,
)

SETTINGS_DIFFER = Rule(
    rule_id="settings_differ",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="the brokers of {subject} have different settings: {details}. Which one applies depends on which broker leads",
    advice="Give all brokers the same settings, best as a cluster-wide default: kafka-configs.sh --entity-type"
    " brokers --entity-default.",
    source="Kafka operations guide: topics inherit the setting of the broker that leads; our choice of settings",
    is_standing=True,
)

RACKS_MISSING = Rule(
    rule_id="racks_missing",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="some brokers of {subject} have no rack: {details}. Replicas are then placed as if each of these brokers"
    " stood apart, or without regard to racks",
    advice="Set broker.rack on every broker. Then reassign the topics that were created without it.",
    source="KIP-36: rack awareness needs the rack of every broker; kcpilot",
    is_standing=True,
)

RACKS_UNKNOWN = Rule(
    rule_id="racks_unknown",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="no broker of {subject} has a rack, or all have the same one: {details}. The replicas of a partition may"
    " share one power supply or zone",
    advice="Set broker.rack if hosts share a rack, a zone or a power supply; leave it unset if they do not.",
    source="KIP-36; kcpilot: rack missing, or all the same",
    is_standing=True,
)

AUTO_REBALANCE_OFF = Rule(
    rule_id="auto_rebalance_off",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="brokers of {subject} do not become leaders again where they are preferred: auto.leader.rebalance.enable"
    " is false",
    advice="Run kafka-leader-election.sh --election-type preferred after each restart, or set"
    " auto.leader.rebalance.enable=true. Keep it false in a cluster that Cruise Control balances.",
    source="auto.leader.rebalance.enable, default true",
    is_standing=True,
)

SESSION_BOUNDS = Rule(
    rule_id="session_bounds",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="brokers of {subject} reject the session timeout that clients use by default: {details}",
    advice="Set group.min.session.timeout.ms to 6 s and group.max.session.timeout.ms to 30 min, their defaults."
    " If 45 s is outside the bounds, consumers with the default fail with InvalidSessionTimeout.",
    source="KIP-735: clients use 45 s since 3.0; GroupCoordinatorService.joinGroup, INVALID_SESSION_TIMEOUT",
    thresholds={"ms": SESSION_TIMEOUT_MS},
    is_standing=True,
)

CONSUMER_SESSIONS_SHORT = Rule(
    rule_id="consumer_sessions_short",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="brokers of {subject} give short timeouts to members of the consumer protocol: {details}",
    advice="Leave group.consumer.session.timeout.ms at 45 s and group.consumer.heartbeat.interval.ms at 5 s. Under"
    " KIP-848 the brokers decide for every client, and three heartbeats must fit into a session.",
    source="KIP-848: 45 s and 5 s; below 30 s one lost connection is enough to lose a member (KIP-735)",
    thresholds={"ms": 30_000, "share of the session": 1 / 3},
    is_standing=True,
)

RULES: tuple[Rule, ...] = (
    REPLICATION_FACTOR_ONE,
    REPLICATION_FACTOR_LOW,
    MIN_ISR_LOW,
    MIN_ISR_EQUALS_REPLICATION,
    MIN_ISR_ABOVE_REPLICATION,
    UNCLEAN_ELECTION_ENABLED,
    REPLICAS_IN_ONE_RACK,
    OFFSETS_TOPIC_WEAK,
    TRANSACTION_TOPIC_WEAK,
    DEFAULT_REPLICATION_LOW,
    SETTINGS_DIFFER,
    RACKS_MISSING,
    RACKS_UNKNOWN,
    AUTO_REBALANCE_OFF,
    SESSION_BOUNDS,
    CONSUMER_SESSIONS_SHORT,
)
