"""Pieces of regexes that many patterns share."""

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

MEMBER = rf".{{1,255}}?-{UUID}"
"""A classic member id: free text of the client, then a uuid of the coordinator's.

What a stranger may name is read up to 255 characters: a regex with several names must not run away."""

INSTANCE = r"[^\s,)\]]+"
"""A group.instance.id. Java clients accept only the characters of topic names; other clients rarely use blanks."""

MEMBER_METADATA = (
    rf"MemberMetadata\(memberId=(?P<member_id>{MEMBER}), groupInstanceId=(?:None|Some\((?P<instance_id>{INSTANCE})\)), "
    r"clientId=(?P<client_id>.{0,255}?), clientHost=(?P<host>[^\s,]*), sessionTimeoutMs=(?P<session_timeout_ms>\d+), "
    r"rebalanceTimeoutMs=(?P<rebalance_timeout_ms>\d+), supportedProtocols="
)
"""How the Scala coordinator prints a member, up to its protocols."""

QUORUM_HEAD = r"^\[(?:QuorumController id=|Controller )\d+\] "
"""How a KRaft controller begins its lines: `[Controller 1] ` until 3.4, `[QuorumController id=1] ` from 3.5.
Source: QuorumController.Builder.build, by tag."""

LIFECYCLE_HEAD = r"^\[BrokerLifecycleManager id=\d+(?: isZkBroker=true)?\] "
"""How a broker begins its lines about its registration with KRaft's controllers, also while it moves there from
ZooKeeper (3.4 to 3.9). Source: BrokerLifecycleManager.logIdent, by tag."""

EPOCH = r"(?:OptionalInt\[|Some\()?(?P<leader_epoch>\d+)[\])]?"
"""A leader epoch, bare or as Scala and Java print an optional one."""

JAVA_HEAD = r"^\[GroupCoordinator id=\d+ topic=__consumer_offsets partition=(?P<offsets_partition>\d+)\] "
"""How the Java coordinator begins a line about a group."""

CLASSIC = {"protocol": "classic"}
CONSUMER = {"protocol": "consumer"}

TOPIC_PARTITION = r"(?P<topic>[\w.-]+)-(?P<partition>\d+)"
"""A partition as Kafka prints it. Brokers accept no other characters in the name of a topic."""

CONSUMER_HEAD = (
    r"^\[(?:Consumer|Worker) (?:instanceId=(?P<instance_id>[\w.-]+), )?clientId=(?P<client_id>.{1,255}?), "
    r"groupId=(?:null|(?P<group_id>.{1,255}?))\] "
)
"""How a Java consumer, or a worker of Connect, begins its lines. Nothing is quoted: fixed text after it is what ends
the group's id."""

CLIENT_HEAD = (
    r"^\[\w+ (?:instanceId=(?P<instance_id>[\w.-]+), )?clientId=(?P<client_id>.{1,255}?)"
    r"(?:, (?:groupId=(?:null|(?P<group_id>.{1,255}?))|transactionalId=.{1,255}?))?\] "
)
"""How any Java client begins its lines: a consumer, a producer, an administrator's tool."""

PRODUCER_NAMED = r"\[Producer clientId=(?P<client_id>.{1,255}?)(?:, transactionalId=.{1,255}?)?\] "
PRODUCER_HEAD = rf"^(?:{PRODUCER_NAMED})?"
"""How a Java producer begins its lines: from Kafka 1.0 on with its name."""

UNKNOWN_HOST = "java.net.UnknownHostException"
"""The error of a connection to a name that no name server knows, in Java's word."""

UNRESOLVED = "java.nio.channels.UnresolvedAddressException"
"""The same where the name was looked up before."""

COORDINATOR_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
    "org.apache.kafka.connect.runtime.distributed.WorkerCoordinator",
)
"""The loggers with which a Java consumer, or a worker of Connect, writes about its group coordinator."""
