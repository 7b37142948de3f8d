"""Rules about clients and brokers that others refused or held back: authentication, authorisation, quotas, names.

And about tasks of Kafka Connect that failed, which it stops.
"""

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.catalog.nouns.causes import Cause
from kafka_hindsight.knowledge.model import Rule

CLIENT_NOT_AUTHENTICATED = Rule(
    rule_id="client_not_authenticated",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="client",
    says="{subject} could not authenticate{span}: {details}",
    advice=Cause.NOT_AUTHENTICATED.noun.advice,
    source="Selector.pollSelectionKeys; NetworkClient.processDisconnection; rdkafka_broker.c",
)

BROKER_NOT_AUTHENTICATED = Rule(
    rule_id="broker_not_authenticated",
    severity="critical",
    harm=Harm.DATA_AT_RISK,
    subject_kind="broker",
    says="{subject} could not authenticate{span}: {details}",
    advice="Renew the certificate or the password with which brokers and controllers reach each other: openssl x509"
    " -enddate shows when a certificate ends. Until then it follows no leader and hears no controller.",
    source="NetworkClient.processDisconnection of ReplicaFetcher, NodeToControllerChannelManager and RaftManager",
)

ACCESS_DENIED = Rule(
    rule_id="access_denied",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="client",
    says="access was denied to {subject}{span}: {details}",
    advice=Cause.ACCESS_DENIED.noun.advice,
    source="StandardAuthorizerData.logAuditMessage, AclAuthorizer.logAuditMessage: denials are logged at INFO",
)

INSTANCE_SHARED = Rule(
    rule_id="instance_shared",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="client",
    says="two processes used the group.instance.id of {subject}{span}: {details}",
    advice="Give each process a group.instance.id of its own: the coordinator takes the newer one and fences the"
    " other, whose consumer ends with FencedInstanceIdException.",
    source="KIP-345; GroupMetadataManager.java throwIfStaticMemberIsFenced",
)

CLIENT_THROTTLED = Rule(
    rule_id="client_throttled",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="client",
    says="a quota held {subject} back{span}, for {details}",
    advice=Cause.THROTTLED.noun.advice,
    source="NetworkClient.maybeThrottle, from 4.4 on at WARN; brokers write it at DEBUG",
)

NAME_UNKNOWN = Rule(
    rule_id="name_unknown",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="client",
    says="{subject} could not resolve the name of a broker{span}: {details}",
    advice="Correct bootstrap.servers of the client or advertised.listeners of the broker, or the name server: the"
    " host that the line names has to be known where the client runs.",
    source="ClientUtils.parseAndValidateAddresses; NetworkClient.initiateConnect; rdkafka_broker.c",
)

TASK_KILLED = Rule(
    rule_id="task_killed",
    severity="warning",
    harm=Harm.CONSUMERS_STOPPED,
    subject_kind="task",
    says="{subject} of Kafka Connect failed and was killed{span}: {details}",
    advice=Cause.TASK_FAILED.noun.advice,
    source="WorkerTask.java doRun: the worker does not start it again by itself",
)

RULES: tuple[Rule, ...] = (
    CLIENT_NOT_AUTHENTICATED,
    BROKER_NOT_AUTHENTICATED,
    ACCESS_DENIED,
    INSTANCE_SHARED,
    CLIENT_THROTTLED,
    NAME_UNKNOWN,
    TASK_KILLED,
)
