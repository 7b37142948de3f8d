"""Lines of brokers' loggers that matter which carry nothing we use."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("kafka.coordinator.group.GroupCoordinator", "org.apache.kafka.coordinator.group.GroupCoordinatorShard"),
        "Offsets of deleted topics go; no group changes.",
        {
            "offsets associated with deleted partitions": "[2026-11-21 01:55:59,679] INFO [GroupCoordinator 1]: Removed 0 offsets associated with deleted partitions: crm-rx-6-x1-0, crm-rx-6-x1-1, crm-rx-6-x1-2. (kafka.coordinator.group.GroupCoordinator)",
            " while cleaning share group state for topics ": "[2026-11-21 12:04:26,330] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=10] Generated 0 records in 4 milliseconds while cleaning share group state for topics [cM958Y25ScOjsdDWC6GTrQ]. (org.apache.kafka.coordinator.group.GroupCoordinatorShard)",
            "tombstone records in ": "[2026-11-21 01:48:26,887] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=4] Generated 0 tombstone records in 0 milliseconds while deleting offsets for partitions [ads-rx-13-x1-0, ads-rx-13-x1-1, ads-rx-13-x1-2]. (org.apache.kafka.coordinator.group.GroupCoordinatorShard)",
        },
    ),
    *noise(
        ("kafka.coordinator.group.GroupCoordinator",),
        "The coordinator starts and stops with its broker, which says so itself.",
        {
            "Starting up.": "[2026-11-21 01:53:48,292] INFO [GroupCoordinator 1]: Starting up. (kafka.coordinator.group.GroupCoordinator)",
            "Startup complete.": "[2026-11-21 01:53:48,296] INFO [GroupCoordinator 1]: Startup complete. (kafka.coordinator.group.GroupCoordinator)",
            "Shutting down.": "[2026-11-21 02:01:43,249] INFO [GroupCoordinator 1]: Shutting down. (kafka.coordinator.group.GroupCoordinator)",
            "Shutdown complete.": "[2026-11-21 02:01:43,251] INFO [GroupCoordinator 1]: Shutdown complete. (kafka.coordinator.group.GroupCoordinator)",
        },
    ),
    *noise(
        ("kafka.coordinator.group.GroupMetadataManager",),
        "The election or resignation of the same instant says the same; the end of loading has a line of its own.",
        {
            "Scheduling loading of ": "[2026-11-21 01:53:49,743] INFO [GroupMetadataManager brokerId=1] Scheduling loading of offsets and group metadata from __consumer_offsets-9 for epoch 0 (kafka.coordinator.group.GroupMetadataManager)",
            "Scheduling unloading of ": "[2026-11-21 01:53:49,748] INFO [GroupMetadataManager brokerId=1] Scheduling unloading of offsets and group metadata from __consumer_offsets-7 (kafka.coordinator.group.GroupMetadataManager)",
        },
    ),
    *noise(
        ("org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime",),
        "The scheduled unloading of the same instant says the same.",
        {
            "Started unloading metadata for ": "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1] Started unloading metadata for __consumer_offsets-4 with epoch OptionalInt[3]. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
            "Ignored unloading metadata for ": "[2026-11-21 01:40:57,752] INFO [GroupCoordinator id=1] Ignored unloading metadata for __consumer_offsets-9 in epoch OptionalInt[0] since metadata was never loaded. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
        },
    ),
    *noise(
        ("org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime",),
        "The runtime stops with its broker, which says so itself.",
        {
            "Closing coordinator runtime.": "[2026-11-21 01:51:09,978] INFO [GroupCoordinator id=1] Closing coordinator runtime. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
            "Coordinator runtime closed.": "[2026-11-21 01:51:09,979] INFO [GroupCoordinator id=1] Coordinator runtime closed. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
        },
    ),
    *noise(
        ("kafka.cluster.Partition",),
        "A partition that never had a high watermark; the line after it says that its log was loaded.",
        {
            "No checkpointed highwatermark is found ": "[2026-11-21 01:40:54,551] INFO [Partition shop-events-8 broker=1] No checkpointed highwatermark is found for partition shop-events-8 (kafka.cluster.Partition)",
        },
    ),
    *noise(
        ("kafka.log.Log", "kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog"),
        "A cut that cuts nothing.",
        {
            " has no effect as the largest offset in the log is ": "[2026-11-21 01:53:31,543] INFO [Log partition=shop-events-3, dir=/var/lib/kafka/data-1] Truncating to 3 has no effect as the largest offset in the log is 2 (kafka.log.Log)",
        },
    ),
    *noise(
        ("kafka.log.Log", "org.apache.kafka.storage.internals.log.UnifiedLog"),
        "A log's segments and its producers' state: nothing of it moves leaders or groups.",
        {
            "Loading producer state till offset ": "[2026-11-21 01:44:25,482] INFO [Log partition=shop-events-2, dir=/var/lib/kafka/data-1] Loading producer state till offset 0 with message format version 2 (kafka.log.Log)",
            "Reloading from producer snapshot ": "[2026-11-21 01:50:48,263] INFO [LogLoader partition=shop-events-0, dir=/var/lib/kafka/data-1] Reloading from producer snapshot and rebuilding producer state from offset 0 (org.apache.kafka.storage.internals.log.UnifiedLog)",
            "Producer state recovery took ": "[2026-11-21 01:50:48,263] INFO [LogLoader partition=shop-events-0, dir=/var/lib/kafka/data-1] Producer state recovery took 0ms for snapshot load and 0ms for segment recovery from offset 0 (org.apache.kafka.storage.internals.log.UnifiedLog)",
            "Recovering unflushed segment ": "[2026-11-21 01:52:40,779] INFO [Log partition=shop-events-0, dir=/var/lib/kafka/data-1] Recovering unflushed segment 0 (kafka.log.Log)",
            "Deleting segment": "[2026-11-21 01:45:48,554] INFO [Log partition=crm-rx-1-x1-0, dir=/var/lib/kafka/data-1] Deleting segment files LogSegment(baseOffset=0, size=85, lastModifiedTime=1795225467276, largestRecordTimestamp=Some(1795225466833)) (kafka.log.Log)",
        },
    ),
    *noise(
        ("kafka.log.LogManager",),
        "Logs are opened and removed; topics and partitions have lines of their own.",
        {
            "Deleted log for partition ": "[2026-11-21 01:56:59,670] INFO Deleted log for partition crm-rx-6-x1-1 in /var/lib/kafka/data-1/crm-rx-6-x1-1.79daa003e0684959b05c7aa6b1055fb6-delete. (kafka.log.LogManager)",
            " is scheduled for deletion": "[2026-11-21 01:55:59,649] INFO Log for partition crm-rx-6-x1-1 is renamed to /var/lib/kafka/data-1/crm-rx-6-x1-1.79daa003e0684959b05c7aa6b1055fb6-delete and is scheduled for deletion (kafka.log.LogManager)",
            "Loading logs from log dirs ": "[2026-11-21 01:44:24,073] INFO Loading logs from log dirs ArraySeq(/var/lib/kafka/data-1) (kafka.log.LogManager)",
            "Loaded ": "[2026-11-21 01:53:48,400] INFO Loaded 0 logs in 7ms (kafka.log.LogManager)",
            "No logs found to be loaded": "[2026-11-21 01:40:53,430] INFO No logs found to be loaded in /var/lib/kafka/data-1 (kafka.log.LogManager)",
            "Log directory ": "[2026-11-21 01:44:24,053] INFO Log directory /var/lib/kafka/data-1 not found, creating it. (kafka.log.LogManager)",
        },
    ),
    *noise(
        ("kafka.server.metadata.DynamicConfigPublisher",),
        "A changed setting of brokers, clients or groups; a broker prints all its settings after a change of its own.",
        {
            "[DynamicConfigPublisher ": "[2026-11-21 01:40:53,924] INFO [DynamicConfigPublisher broker id=1] Updating cluster configuration : min.insync.replicas -> 1 (kafka.server.metadata.DynamicConfigPublisher)",
        },
    ),
    *noise(
        ("kafka.server.DynamicConfigManager", "kafka.server.ZkConfigManager"),
        "A changed setting of brokers, clients or users; a broker prints all its settings after a change of its own.",
        {
            "Processing override for entityPath: ": "[2026-11-21 13:10:24,193] INFO Processing override for entityPath: brokers/<default> with config: HashMap(min.insync.replicas -> 1) (kafka.server.ZkConfigManager)",
        },
    ),
    *noise(
        ("kafka.log.LogManager",),
        "Whether a clean shutdown came before; the shutdown, or its absence, is told by the broker.",
        {
            "since no clean shutdown file was found": "[2026-11-21 01:50:48,235] INFO Recovering 72 logs from /var/lib/kafka/data-1 since no clean shutdown file was found (kafka.log.LogManager)",
            "since clean shutdown file was found": "[2026-11-21 01:51:15,162] INFO Skipping recovery of 72 logs from /var/lib/kafka/data-1 since clean shutdown file was found (kafka.log.LogManager)",
            "Unable to read the broker epoch": "[2026-11-21 01:40:52,930] INFO Unable to read the broker epoch in /var/lib/kafka/data-1. (kafka.log.LogManager)",
        },
    ),
    *noise(
        ("kafka.log.LogManager",),
        "The log manager starts and stops with its broker, which says so itself.",
        {
            "Starting log ": "[2026-11-21 01:40:53,454] INFO Starting log cleanup with a period of 300000 ms. (kafka.log.LogManager)",
            "Shutting down.": "[2026-11-21 01:51:09,992] INFO Shutting down. (kafka.log.LogManager)",
            "Shutdown complete.": "[2026-11-21 01:51:10,047] INFO Shutdown complete. (kafka.log.LogManager)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaManager",),
        "The replica manager stops with its broker, which says so itself.",
        {
            "] Shutting down": "[2026-11-21 01:51:09,981] INFO [ReplicaManager broker=1] Shutting down (kafka.server.ReplicaManager)",
            "] Shut down completely": "[2026-11-21 01:51:09,991] INFO [ReplicaManager broker=1] Shut down completely (kafka.server.ReplicaManager)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaFetcherThread",),
        "Fetcher threads come and go with the leaders they follow.",
        {
            "]: Starting": "[2026-11-21 01:40:54,847] INFO [ReplicaFetcherThread-0-2]: Starting (kafka.server.ReplicaFetcherThread)",
            "]: Shutting down": "[2026-11-21 01:51:07,914] INFO [ReplicaFetcherThread-0-2]: Shutting down (kafka.server.ReplicaFetcherThread)",
            "]: Stopped": "[2026-11-21 01:51:07,936] INFO [ReplicaFetcherThread-0-2]: Stopped (kafka.server.ReplicaFetcherThread)",
            "]: Shutdown completed": "[2026-11-21 01:51:07,934] INFO [ReplicaFetcherThread-0-2]: Shutdown completed (kafka.server.ReplicaFetcherThread)",
            "] Starting": "[2026-11-21 01:44:25,664] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Starting (kafka.server.ReplicaFetcherThread)",
            "] Shutting down": "[2026-11-21 01:52:58,893] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Shutting down (kafka.server.ReplicaFetcherThread)",
            "] Stopped": "[2026-11-21 01:52:58,893] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Stopped (kafka.server.ReplicaFetcherThread)",
            "] Shutdown completed": "[2026-11-21 01:52:58,894] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Shutdown completed (kafka.server.ReplicaFetcherThread)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaFetcherThread",),
        "An epoch that one side knows before the other; both sides tell the change itself.",
        {
            " has an older epoch (": "[2026-11-21 01:50:53,093] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Partition shop-events-8 has an older epoch (1) than the current leader. Will await the new LeaderAndIsr state before resuming fetching. (kafka.server.ReplicaFetcherThread)",
            " has an new epoch (": "[2026-11-21 01:53:09,129] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Partition shop-events-4 has an new epoch (3) than the current leader. retry the partition later (kafka.server.ReplicaFetcherThread)",
            " marked as failed": "[2026-11-21 01:50:53,093] WARN [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Partition shop-events-8 marked as failed (kafka.server.ReplicaFetcherThread)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaFetcherThread",),
        "What the fetcher asks for; the log itself says whether anything was cut.",
        {
            "] Error for partition ": "[2026-11-21 11:57:35,927] ERROR [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Error for partition disk-t-4 at offset 0 (kafka.server.ReplicaFetcherThread)",
            "Truncating partition ": "[2026-11-21 01:44:25,665] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Truncating partition shop-events-1 to local high watermark 0 (kafka.server.ReplicaFetcherThread)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaFetcherThread",),
        "A partition that its leader does not know yet, or no more.",
        {
            "Received UNKNOWN_TOPIC_ID from the leader": "[2026-11-21 11:57:55,892] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Received UNKNOWN_TOPIC_ID from the leader for partition disk-t-3. This error may be returned transiently when the partition is being created or deleted, but it is not expected to persist. (kafka.server.ReplicaFetcherThread)",
            "Received UNKNOWN_TOPIC_OR_PARTITION from the leader": "[2026-11-21 01:44:25,664] WARN [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Received UNKNOWN_TOPIC_OR_PARTITION from the leader for partition shop-events-8. This error may be returned transiently when the partition is being created or deleted, but it is not expected to persist. (kafka.server.ReplicaFetcherThread)",
        },
    ),
    *noise(
        ("state.change.logger",),
        "How many partitions a change touches; each partition has a line of its own.",
        {
            "Transitioning ": "[2026-11-21 01:40:54,444] INFO [Broker id=1] Transitioning 3 partition(s) to local leaders. (state.change.logger)",
            "Stopped fetchers as part of ": "[2026-11-21 01:40:54,766] INFO [Broker id=1] Stopped fetchers as part of become-follower for 6 partitions (state.change.logger)",
            "Started fetchers as part of ": "[2026-11-21 01:40:54,868] INFO [Broker id=1] Started fetchers as part of become-follower for 6 partitions (state.change.logger)",
            "Handling LeaderAndIsr request ": "[2026-11-21 01:44:25,349] INFO [Broker id=1] Handling LeaderAndIsr request correlationId 1 from controller 2 for 9 partitions (state.change.logger)",
            "Finished LeaderAndIsr request ": "[2026-11-21 01:44:26,828] INFO [Broker id=1] Finished LeaderAndIsr request in 30ms correlationId 3 from controller 2 for 3 partitions (state.change.logger)",
            "Handling StopReplica request ": "[2026-11-21 01:44:48,514] INFO [Broker id=1] Handling StopReplica request correlationId 10 from controller 2 for 3 partitions (state.change.logger)",
            "Sending LeaderAndIsr request ": "[2026-11-21 01:53:31,511] INFO [Controller id=1 epoch=2] Sending LeaderAndIsr request to broker 1 with 0 become-leader and 4 become-follower partitions (state.change.logger)",
            "Sending StopReplica request ": "[2026-11-21 01:44:48,510] INFO [Controller id=2 epoch=1] Sending StopReplica request for 3 replicas to broker 1 (state.change.logger)",
            "Sending UpdateMetadata request ": "[2026-11-21 01:53:18,720] INFO [Controller id=1 epoch=2] Sending UpdateMetadata request to brokers HashSet() for 0 partitions (state.change.logger)",
            " partitions from metadata cache in response to UpdateMetadata request ": "[2026-11-21 01:44:25,720] INFO [Broker id=1] Add 9 partitions and deleted 0 partitions from metadata cache in response to UpdateMetadata request sent by controller 2 epoch 1 with correlation id 2 (state.change.logger)",
            "] Deleting ": "[2026-11-21 01:48:26,865] INFO [Broker id=1] Deleting 3 partition(s). (state.change.logger)",
        },
    ),
    *noise(
        ("state.change.logger",),
        "A request that repeats what the broker knows.",
        {
            "Ignoring LeaderAndIsr request ": "[2026-11-21 01:53:09,897] INFO [Broker id=1] Ignoring LeaderAndIsr request from controller 1 with correlation id 1 epoch 2 for partition shop-events-6 since its associated leader epoch 3 matches the current leader epoch (state.change.logger)",
            "Ignoring StopReplica request ": "[2026-11-21 01:52:58,296] INFO [Broker id=1] Ignoring StopReplica request (delete=false) from controller 2 with correlation id 8 epoch 1 for partition shop-events-6 since its associated leader epoch 1 matches the current leader epoch (state.change.logger)",
            "since it is already the leader for the partition.": "[2026-11-21 01:54:31,987] INFO [Broker id=3] Skipped the become-leader state change after marking its partition as leader with correlation id 3 from controller 3 epoch 3 for partition shop-events-1 (last update controller epoch 3) since it is already the leader for the partition. (state.change.logger)",
        },
    ),
    *noise(
        ("state.change.logger",),
        "A broker makes a replica: a new partition, a reassignment, or its own start; the controller tells which.",
        {
            "Creating new partition ": "[2026-11-21 01:40:54,446] INFO [Broker id=1] Creating new partition shop-events-8 with topic id vBbKtPgrQXuKDhsRLiajrQ. (state.change.logger)",
            " to exist, but it was missing. Creating...": "[2026-11-21 01:47:57,791] ERROR [Broker id=1] Expected partition stock-grow-12-t-6 with topic id bmrYpiBhRIKilrd24ZQvYw to exist, but it was missing. Creating... (state.change.logger)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaManager",),
        "A record that was refused; why stands in the trace, and ISR changes have lines of their own.",
        {
            "Error processing append operation on partition ": "[2026-11-21 12:09:37,243] ERROR [ReplicaManager broker=2] Error processing append operation on partition AFjwywNpSYu-_6_tSp42Fg:stock.30-t-0 (kafka.server.ReplicaManager)",
        },
    ),
    *noise(
        ("kafka.server.ReplicaManager", "kafka.log.LogManager", "state.change.logger"),
        "What follows from a failed log directory, which has a line of its own.",
        {
            "Error while writing to highwatermark file ": "[2026-11-21 11:58:05,753] ERROR [ReplicaManager broker=2] Error while writing to highwatermark file in directory /var/lib/kafka/data-2b (kafka.server.ReplicaManager)",
            "Stopped serving replicas in dir ": "[2026-11-21 11:58:05,771] WARN [ReplicaManager broker=2] Stopped serving replicas in dir /var/lib/kafka/data-2b (kafka.server.ReplicaManager)",
            "Stopping serving logs in dir ": "[2026-11-21 11:58:05,757] WARN Stopping serving logs in dir /var/lib/kafka/data-2b (kafka.log.LogManager)",
            " are offline due to failure on log directory ": "[2026-11-21 11:58:05,763] WARN Logs for partitions disk-t-3,disk-t-5,disk-t-1,disk-single-4,disk-t-10,disk-t-7,disk-t-9 are offline and logs for future partitions  are offline due to failure on log directory /var/lib/kafka/data-2b (kafka.log.LogManager)",
            " because it resides in an offline log directory.": "[2026-11-21 11:57:10,499] WARN [Broker id=2] Unable to bring up new local leader disk-t-5 with topic id FSNS69FcQaqdi8SZB4T5EQ because it resides in an offline log directory. (state.change.logger)",
            "] Mark replicas ": "[2026-11-21 11:58:05,793] INFO [Controller id=2] Mark replicas disk-t-3,disk-t-5,disk-single-4,disk-t-1,disk-t-10,disk-t-7,disk-t-9 on broker 2 as offline (state.change.logger)",
        },
    ),
    *noise(
        ("kafka.server.KafkaServer",),
        "On the way to its start or its end, which have lines of their own.",
        {
            "] null": "[2026-11-21 15:48:40,296] WARN [KafkaServer id=3] null (kafka.server.KafkaServer)\njava.nio.channels.ClosedChannelException\n\tat java.base/sun.nio.ch.FileLockImpl.release(FileLockImpl.java:58)",
            "Connecting to zookeeper on ": "[2026-11-21 01:44:23,487] INFO Connecting to zookeeper on 127.0.0.1:20400 (kafka.server.KafkaServer)",
            "] Rewriting ": "[2026-11-21 11:57:52,692] INFO [KafkaServer id=1] Rewriting /var/lib/kafka/data-1/meta.properties (kafka.server.KafkaServer)",
            "] Start processing ": "[2026-11-21 11:57:54,262] INFO [KafkaServer id=1] Start processing authorizer futures (kafka.server.KafkaServer)",
            "] End processing ": "[2026-11-21 11:57:54,262] INFO [KafkaServer id=1] End processing authorizer futures (kafka.server.KafkaServer)",
        },
    ),
    *noise(
        ("kafka.zk.KafkaZkClient",),
        "Nodes in ZooKeeper; the registration of a broker has a line of its own.",
        {
            "(is it secure? ": "[2026-11-21 01:44:24,876] INFO Creating /brokers/ids/1 (is it secure? false) (kafka.zk.KafkaZkClient)",
            "Stat of the created znode at ": "[2026-11-21 01:44:24,893] INFO Stat of the created znode at /brokers/ids/1 is: 65,65,1795225464886,1795225464886,1,0,0,72057785070911490,220,0,65\n (kafka.zk.KafkaZkClient)",
            "Successfully created /controller_epoch ": "[2026-11-21 01:44:24,822] INFO Successfully created /controller_epoch with initial epoch 0 (kafka.zk.KafkaZkClient)",
        },
    ),
    *noise(
        ("kafka.zookeeper.ZooKeeperClient",),
        "The connection to ZooKeeper comes and goes; an expired session has a line of its own.",
        {
            "Waiting until connected.": "[2026-11-21 01:44:23,527] INFO [ZooKeeperClient Kafka server] Waiting until connected. (kafka.zookeeper.ZooKeeperClient)",
            "] Connected.": "[2026-11-21 01:44:23,540] INFO [ZooKeeperClient Kafka server] Connected. (kafka.zookeeper.ZooKeeperClient)",
            "Initializing a new session to ": "[2026-11-21 01:44:23,501] INFO [ZooKeeperClient Kafka server] Initializing a new session to 127.0.0.1:20400. (kafka.zookeeper.ZooKeeperClient)",
            "] Closing.": "[2026-11-21 01:52:59,444] INFO [ZooKeeperClient Kafka server] Closing. (kafka.zookeeper.ZooKeeperClient)",
            "] Closed.": "[2026-11-21 01:52:59,548] INFO [ZooKeeperClient Kafka server] Closed. (kafka.zookeeper.ZooKeeperClient)",
        },
    ),
    *noise(
        ("kafka.server.BrokerServer",),
        "Steps of start and stop between those that we read.",
        {
            "aiting for ": "[2026-11-21 01:40:54,056] INFO [BrokerServer id=1] Waiting for the broker to be unfenced (kafka.server.BrokerServer)",
            "Exception while execution the action": "[2026-11-21 15:32:50,365] WARN Exception while execution the action (kafka.server.BrokerServer)\njava.nio.channels.ClosedChannelException\n\tat java.base/sun.nio.ch.FileLockImpl.release(FileLockImpl.java:58)",
            "] null": "[2026-11-21 15:39:07,312] WARN [BrokerServer id=3] null (kafka.server.BrokerServer)\njava.nio.channels.ClosedChannelException\n\tat java.base/sun.nio.ch.FileLockImpl.release(FileLockImpl.java:58)",
            "Starting broker": "[2026-11-21 01:40:51,792] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)",
            "Transition from STARTED to SHUTTING_DOWN": "[2026-11-21 01:51:07,842] INFO [BrokerServer id=1] Transition from STARTED to SHUTTING_DOWN (kafka.server.BrokerServer)",
            "Transition from SHUTTING_DOWN to SHUTDOWN": "[2026-11-21 01:51:10,059] INFO [BrokerServer id=1] Transition from SHUTTING_DOWN to SHUTDOWN (kafka.server.BrokerServer)",
        },
    ),
    *noise(
        ("kafka.server.BrokerLifecycleManager", "org.apache.kafka.server.BrokerLifecycleManager"),
        "Steps of start and stop between those that we read.",
        {
            "Transitioning from STARTING to RECOVERY.": "[2026-11-21 01:40:54,016] INFO [BrokerLifecycleManager id=1] The broker has caught up. Transitioning from STARTING to RECOVERY. (kafka.server.BrokerLifecycleManager)",
            "The broker is in RECOVERY.": "[2026-11-21 01:40:54,083] INFO [BrokerLifecycleManager id=1] The broker is in RECOVERY. (kafka.server.BrokerLifecycleManager)",
            "still waiting for the active controller.": "[2026-11-21 01:51:07,867] INFO [BrokerLifecycleManager id=1] The broker is in PENDING_CONTROLLED_SHUTDOWN state, still waiting for the active controller. (kafka.server.BrokerLifecycleManager)",
            "Transitioning from PENDING_CONTROLLED_SHUTDOWN to SHUTTING_DOWN.": "[2026-11-21 01:51:09,960] INFO [BrokerLifecycleManager id=1] Transitioning from PENDING_CONTROLLED_SHUTDOWN to SHUTTING_DOWN. (kafka.server.BrokerLifecycleManager)",
            "Unable to register the broker ": "[2026-11-21 12:34:27,577] INFO [BrokerLifecycleManager id=1] Unable to register the broker because the RPC got timed out before it could be sent. (org.apache.kafka.server.BrokerLifecycleManager)",
            "Unable to register broker ": "[2026-11-21 01:51:15,103] INFO [BrokerLifecycleManager id=1] Unable to register broker 1 because the controller returned error DUPLICATE_BROKER_REGISTRATION (kafka.server.BrokerLifecycleManager)",
        },
    ),
)
