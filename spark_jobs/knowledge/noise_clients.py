"""Lines of clients' loggers that matter which carry nothing we use."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Noise, noise

NOISE: tuple[Noise, ...] = (
    *noise(
        ("org.apache.kafka.clients.NetworkClient",),
        "Connections of brokers, controllers and other clients; the consumers' lost ones are read.",
        {
            "] Bootstrap broker ": "[2026-11-21 12:20:03,008] WARN [Consumer clientId=feed-cd285, groupId=audit-hub-36] Bootstrap broker 127.0.0.1:20298 (id: -2 rack: null isFenced: false) disconnected (org.apache.kafka.clients.NetworkClient)",
            " disconnected.": "[2026-11-21 01:40:51,230] INFO [RaftManager id=1] Node 1 disconnected. (org.apache.kafka.clients.NetworkClient)",
            " could not be established.": "[2026-11-21 01:40:51,231] WARN [RaftManager id=1] Connection to node 1 (/127.0.0.1:23701) could not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)",
            " due to request timeout.": "[2026-11-21 01:51:57,538] INFO [RaftManager id=2] Disconnecting from node 1 due to request timeout. (org.apache.kafka.clients.NetworkClient)",
            "Cancelled in-flight ": "[2026-11-21 02:04:03,168] INFO [RaftManager id=1] Cancelled in-flight FETCH request with correlation id 20 due to node 4 being disconnected (elapsed time since creation: 246ms, elapsed time since send: 246ms, throttle time: 0ms, request timeout: 2000ms) (org.apache.kafka.clients.NetworkClient)",
            "Client requested ": "[2026-11-21 01:52:17,856] INFO [NodeToControllerChannelManager id=1 name=heartbeat] Client requested disconnect from node 1 (org.apache.kafka.clients.NetworkClient)",
            "Attempting to close NetworkClient ": "[2026-11-21 01:51:10,186] WARN [NodeToControllerChannelManager id=1 name=registration] Attempting to close NetworkClient that has already been closed. (org.apache.kafka.clients.NetworkClient)",
        },
    ),
    *noise(
        ("org.apache.kafka.clients.Metadata",),
        "Epochs as a client keeps them, and the cluster of a producer or an administrator: another than the consumers', maybe.",
        {
            "] Cluster ID: ": "[2026-11-21 15:32:00,405] INFO [Producer clientId=drill-producer] Cluster ID: AW8wSTUvQGiZzK2cWwT_Lw (org.apache.kafka.clients.Metadata)",
            "Resetting the last seen epoch of partition ": "[2026-11-21 01:44:29,312] INFO [Consumer clientId=crm-rx-1-a, groupId=crm-rx-1] Resetting the last seen epoch of partition crm-rx-1-x1-0 to 0 since the associated topicId changed from null to LU4c5brvT6WdtzoxuA-_0Q (org.apache.kafka.clients.Metadata)",
        },
    ),
    *noise(
        ("org.apache.kafka.common.config.AbstractConfig",),
        "Settings of anything but a consumer. The samples are cut.",
        {
            "AbstractConfig values: ": "[2026-11-21 11:50:53,729] INFO AbstractConfig values: \n\tgroup.consumer.assignment.interval.ms = 1000\n (org.apache.kafka.common.config.AbstractConfig)",
            "ProducerConfig values: ": "[2026-11-21 01:40:59,632] INFO ProducerConfig values: \n\tacks = -1\n (org.apache.kafka.common.config.AbstractConfig)",
            "AdminClientConfig values: ": "[2026-11-21 01:40:59,632] INFO AdminClientConfig values: \n\tbootstrap.servers = [127.0.0.1:23601]\n (org.apache.kafka.common.config.AbstractConfig)",
        },
    ),
    *noise(
        ("org.apache.kafka.common.utils.AppInfoParser",),
        "Which build runs; and the end of anything but a consumer.",
        {
            "Kafka version: ": "[2026-11-21 01:40:54,144] INFO Kafka version: 4.1.2 (org.apache.kafka.common.utils.AppInfoParser)",
            "Kafka commitId: ": "[2026-11-21 01:40:54,145] INFO Kafka commitId: c82fd9b934b4c1e6 (org.apache.kafka.common.utils.AppInfoParser)",
            "Kafka startTimeMs: ": "[2026-11-21 01:40:54,145] INFO Kafka startTimeMs: 1795225254144 (org.apache.kafka.common.utils.AppInfoParser)",
            "App info ": "[2026-11-21 01:51:10,199] INFO App info kafka.server for 1 unregistered (org.apache.kafka.common.utils.AppInfoParser)",
        },
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.CommitRequestManager",
        ),
        "Where a consumer goes on reading.",
        {
            "Found no committed offset for partition ": "[2026-11-21 01:55:48,069] INFO [Consumer clientId=crm-rx-6-a, groupId=crm-rx-6] Found no committed offset for partition crm-rx-6-x1-1 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "Setting offset for partition ": "[2026-11-21 01:44:43,092] INFO [Consumer clientId=crm-rx-1-a, groupId=crm-rx-1] Setting offset for partition crm-rx-1-x1-0 to the committed offset FetchPosition{offset=3, offsetEpoch=Optional[0], currentLeader=LeaderAndEpoch{leader=Optional[127.0.0.1:20403 (id: 3 rack: rack-c)], epoch=0}} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        },
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
        ),
        "A join that came to nothing and is tried again, or a member that never got in: no generation is owed to it.",
        {
            "] JoinGroup failed: ": "[2026-11-21 12:20:08,169] INFO [Consumer clientId=feed-cd285, groupId=audit-hub-36] JoinGroup failed: The coordinator is not available. Marking coordinator unknown. Sent generation was Generation{generationId=-1, memberId='feed-cd285-10da06ad-7a77-4d95-aa33-9339406d8fc6', protocol='null'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "] Rebalance failed.": "[2026-11-21 12:24:06,981] INFO [Consumer instanceId=i1, clientId=email-batch-1bb3f, groupId=mobile.etl.v15] Rebalance failed. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
            "] SyncGroup failed: ": "[2026-11-21 12:24:06,980] INFO [Consumer instanceId=i1, clientId=email-batch-1bb3f, groupId=mobile.etl.v15] SyncGroup failed: The group began another rebalance. Need to re-join the group. Sent generation was Generation{generationId=3, memberId='i1-1846ba40-081f-4760-9f64-9292b949908d', protocol='range'} (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
            "Attempt to heartbeat failed since coordinator ": "[2026-11-21 12:27:28,954] INFO [Consumer clientId=audit-bridge-81a7d, groupId=writer-of-prices-54] Attempt to heartbeat failed since coordinator null is either not started or not valid (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
            " failed with error: The coordinator is not aware of this member.": "[2026-11-21 12:35:01,857] ERROR [Consumer clientId=jobs-of-loans-99-20c73, groupId=jobs-of-loans-99] LeaveGroup request with Generation{generationId=2, memberId='jobs-of-loans-99-20c73-d9a3d05f-ca0a-4ecd-933a-619a62dcffc3', protocol='range'} failed with error: The coordinator is not aware of this member. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "JoinGroup failed due to fatal error: ": "[2026-11-21 12:19:12,274] ERROR [Consumer clientId=mobile-worker-def32, groupId=claims.writer.v26] JoinGroup failed due to fatal error: The group has reached its maximum size. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "Generation data was cleared by heartbeat thread to ": "[2026-11-21 12:17:55,405] INFO [Consumer instanceId=i2, clientId=fleet-svc-69-e4e2a, groupId=fleet-svc-69] Generation data was cleared by heartbeat thread to Generation{generationId=-1, memberId='', protocol='null'} and state is now UNJOINED before receiving SyncGroup response, marking this rebalance as failed and retry (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        },
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer",),
        "Advice, not news.",
        {
            "The consumer rebalance protocol (KIP-848) is production-ready!": "[2026-11-21 12:05:37,609] INFO [Consumer clientId=billing-tracker-d15ed, groupId=bridge-of-ads-15] \n****************************************************************\n* The consumer rebalance protocol (KIP-848) is production-ready!\n* Set the consumer configuration group.protocol=consumer to try it out.\n* See https://kafka.apache.org/documentation/#consumer_rebalance_protocol\n**************************************************************** (org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer)",
        },
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",),
        "The member left; its own lines say so.",
        {
            "won't include epoch in following offset commit/fetch requests": "[2026-11-21 01:47:46,032] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Member IF9u91ErTnivIe8vNKWFHQ won't include epoch in following offset commit/fetch requests because it has left the group. (org.apache.kafka.clients.consumer.internals.CommitRequestManager)",
        },
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
        ),
        "The assignment again; what came and what went has lines of its own.",
        {
            "Notifying assignor about the new Assignment": "[2026-11-21 01:49:25,350] INFO [Consumer clientId=fraud-coop-9-b, groupId=fraud-coop-9] Notifying assignor about the new Assignment(partitions=[]) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "Updating assignment with": "[2026-11-21 01:49:25,350] INFO [Consumer clientId=fraud-coop-9-b, groupId=fraud-coop-9] Updating assignment with\n\tAssigned partitions:                       []\n\tCurrent owned partitions:                  []\n\tAdded partitions (assigned - owned):       []\n\tRevoked partitions (owned - assigned):     []\n (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "Reconciling assignment with local epoch ": "[2026-11-21 01:46:08,137] INFO [Consumer clientId=email-next-11-b, groupId=email-next-11] Reconciling assignment with local epoch 0\n\tMember:                                    XpVYuptgSeSDqwjPGx41Ew\n\tAssigned partitions:                       []\n\tCurrent owned partitions:                  []\n\tAdded partitions (assigned - owned):       []\n\tRevoked partitions (owned - assigned):     []\n (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)",
            "Giving away all assigned partitions as lost ": "[2026-11-21 01:46:17,197] INFO [Consumer clientId=mobile-etl-3-b, groupId=mobile-etl-3] Giving away all assigned partitions as lost since generation has been reset,indicating that consumer is no longer part of the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        },
    ),
    *noise(
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "org.apache.kafka.clients.consumer.internals.CommitRequestManager",
        ),
        "The failed commit again.",
        {
            "uto-commit of offsets ": "[2026-11-21 01:41:18,991] ERROR [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Asynchronous auto-commit of offsets failed: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.. Will continue to join group. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        },
    ),
    *noise(
        ("org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",),
        "The lost coordinator, or the close, again.",
        {
            "Requesting disconnect from last known coordinator ": "[2026-11-21 02:02:02,708] INFO [Consumer clientId=audit-roll-17-a, groupId=audit-roll-17] Requesting disconnect from last known coordinator 127.0.0.1:24803 (id: 2147483644 rack: null) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
            "Close timed out with ": "[2026-11-21 01:49:06,037] WARN [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Close timed out with 1 pending requests to coordinator, terminating client connections (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        },
    ),
)
