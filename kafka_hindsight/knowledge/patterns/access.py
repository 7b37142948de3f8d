"""Refused access, by the lines of brokers: authentication, authorisation (Kafka 2.0-4.3)."""

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern

_DENIAL = r"^Principal = (?P<detail>.{1,255}?) is Denied [Oo]peration = (?P<reason_1>\w+) from host = (?P<host>\S+) on resource = "
_QUOTA_MANAGERS = tuple(f"kafka.server.Client{kind}QuotaManager" for kind in ("", "Request"))
_REQUEST = r"(?: for request = (?P<reason_2>\w+)(?: with resourceRefCount = \d+)?(?: based on rule .{1,999})?)?$"
_DENIES = "StandardAuthorizerData.java buildAuditMessage; AclAuthorizer.scala logAuditMessage"


PATTERNS = (
    Pattern(
        pattern_id="access.authentication_failed",
        kind=Kind.AUTHENTICATION_FAILED,
        loggers=("org.apache.kafka.common.network.Selector",),
        head=r"^\[SocketServer (?:listenerType=\w+, nodeId|brokerId)=\d+\] ",
        regex=r"Failed (?:re-)?authentication with [^/]{0,255}/(?P<host>\S+) (?:\(channelId=\S+\) )?\((?P<error>.*)\)$",
        versions="2.0-4.3",
        source="clients/src/main/java/org/apache/kafka/common/network/Selector.java pollSelectionKeys",
    ),
    Pattern(
        pattern_id="access.authentication_refused",
        kind=Kind.AUTHENTICATION_REFUSED,
        loggers=("org.apache.kafka.clients.NetworkClient",),
        head=r"^\[(?P<detail>(?:ReplicaFetcher|RaftManager|(?:Node|Broker)ToControllerChannelManager|Controller) [^\]]{1,255})\] ",
        regex=r"Connection to node (?P<node>-?\d+) (?:\([^)]*\) )?failed authentication due to: (?P<error>.*)$",
        versions="2.0-4.3",
        source="clients/src/main/java/org/apache/kafka/clients/NetworkClient.java processDisconnection",
    ),
    Pattern(
        pattern_id="access.quota_changed",
        kind=Kind.QUOTA_CHANGED,
        loggers=_QUOTA_MANAGERS,
        regex=r"^Changing (?P<reason>\w+) quota for (?:user (?P<detail>\S+))?(?: ?client-id (?P<client_id>.{1,255}?))?"
        r" to (?P<state>\d\S*)$",
        versions="2.0-4.3",
        source="ClientQuotaManager.updateQuota; KafkaQuotaEntity.toString",
    ),
    Pattern(
        pattern_id="access.group_denied",
        kind=Kind.GROUP_DENIED,
        loggers=("kafka.authorizer.logger",),
        head=_DENIAL,
        regex=rf"Group:LITERAL:(?P<group_id>.{{1,255}}?){_REQUEST}",
        versions="2.0-4.3",
        source=_DENIES,
    ),
    Pattern(
        pattern_id="access.denied",
        kind=Kind.ACCESS_DENIED,
        loggers=("kafka.authorizer.logger",),
        head=_DENIAL,
        regex=rf"(?:Topic:LITERAL:(?P<topic>[\w.-]+)|(?:Cluster|TransactionalId|DelegationToken|User):LITERAL:.{{1,255}}?){_REQUEST}",
        versions="2.0-4.3",
        source=_DENIES,
    ),
)
