"""Lines of the state-change log which carry nothing we use."""

from kafka_hindsight.knowledge.model import Noise, noise

_LOGGERS = ("state.change.logger",)

NOISE: tuple[Noise, ...] = (
    *noise(
        _LOGGERS,
        "The number of partitions of a change; each partition has its own line.",
        "Transitioning ",
        "Stopped fetchers as part of ",
        "Started fetchers as part of ",
        "Handling LeaderAndIsr request ",
        "Finished LeaderAndIsr request ",
        "Handling StopReplica request ",
        "Sending LeaderAndIsr request ",
        "Sending StopReplica request ",
        "Sending UpdateMetadata request ",
        " metadata cache in response to UpdateMetadata request ",
        "] Deleting ",
    ),
    *noise(
        _LOGGERS,
        "To which brokers on ZooKeeper a controller of KRaft speaks while a cluster moves.",
        "Adding brokers Set(",
    ),
    *noise(
        _LOGGERS,
        "Kafka 2.8 on KRaft puts changes off while it starts, and makes them later.",
        " deferred ",
        "Deferring metadata changes ",
        "Metadata batch ",
        "etadata changes are n",
        "Ignoring handlePartitionChanges at ",
    ),
    *noise(
        _LOGGERS,
        "A request that repeats what the broker already knows, or that is older.",
        "Ignoring LeaderAndIsr request ",
        "Ignoring StopReplica request ",
        "Ignoring stop replica ",
        "since it is already the leader for the partition.",
        " because this partition is already a local leader.",
        "Skipped the become-follower state change after marking its partition as follower ",
        "Received stop replica request from an old controller epoch ",
        "Received UpdateMetadataRequest with Type=FULL ",
    ),
    *noise(
        _LOGGERS,
        "A broker creates a replica: for a new partition, a reassignment, or at its start; the controller logs which.",
        "Creating new partition ",
        " to exist, but it was missing. Creating...",
    ),
    *noise(
        _LOGGERS,
        "Ids of topics; no leader changes.",
        "Topic ID in memory: ",
        "Topic Id in memory: ",
        "Updating PartitionFetchState for ",
        "Updating log for ",
    ),
    *noise(
        _LOGGERS,
        "A broker could not follow a request; the lines of those that lead and follow show what holds.",
        "A ZooKeeper client exception has occurred",
        "Error while processing LeaderAndIsr request ",
        "Received error ",
        "Unable to start fetching ",
    ),
    *noise(
        _LOGGERS,
        "Consequences of a failed log directory, which has its own line.",
        " as offline",
        " due to disk error ",
        " due to storage error ",
        " due to a storage error ",
    ),
    *noise(
        _LOGGERS,
        "Replicas that a broker should not hold any more; the topic or the reassignment has its own lines.",
        "Unable to delete ",
        " stray partition(s).",
    ),
    *noise(
        _LOGGERS,
        "Before 2.6 Kafka's own configuration traces each request for each partition, with its answer; leader, ISR and"
        " epoch have their own lines.",
        "Sending become-",
        "Received LeaderAndIsr request ",
        "Completed LeaderAndIsr request ",
        "Received response ",
        "Cached leader info ",
        "andling stop replica (",
        "Started fetcher to new leader ",
        "Truncated logs and checkpointed recovery boundaries ",
        "Skipped the adding-fetcher step ",
        "Changed state of replica ",
    ),
    *noise(
        _LOGGERS,
        "A partition without a leader waits for its election, and a deleted one for none; elections, those that fail"
        " too, and deletions have their own lines.",
        " to OfflinePartition",
        " to NonExistentPartition",
    ),
    *noise(
        _LOGGERS,
        "A logger of log4j 1 reports that JMX registers it.",
        "preRegister called. Server=",
    ),
)
