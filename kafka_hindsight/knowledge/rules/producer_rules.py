"""Rules about producers: how safe their records are, together with the settings of the topics that they write to."""

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.knowledge.model import Rule

WEAKEST_LINK = Rule(
    rule_id="weakest_link",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="topic",
    says="{subject} keeps records no better than its weakest link, {link}. Together: {chain}",
    advice="Use acks=all and enable.idempotence=true (both are defaults since 3.0), leave retries alone; give the"
    " topic three replicas, min.insync.replicas=2 and unclean.leader.election.enable=false. None of them makes up for"
    " another. Where records may be lost, leave it as it is.",
    source="Kafka's own words on min.insync.replicas (3 replicas, min.insync.replicas of 2, acks of all), on acks,"
    " enable.idempotence, retries, and unclean.leader.election.enable",
    is_standing=True,
)

PRODUCER_WEAK = Rule(
    rule_id="producer_weak",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="client",
    says="{subject} keeps records no better than its weakest link, {link}, whatever its topics are set to: its log"
    " names none of them. Together: {chain}",
    advice="Use acks=all and enable.idempotence=true (both are defaults since 3.0), and leave retries at its default."
    " Where records may be lost, leave it as it is.",
    source="Kafka's own words on acks, enable.idempotence and retries",
    is_standing=True,
)

RULES: tuple[Rule, ...] = (WEAKEST_LINK, PRODUCER_WEAK)
