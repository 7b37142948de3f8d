"""KIP-848 groups as the Java coordinator tells them (Kafka 3.7-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER, JAVA_HEAD, captured, made

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\] "
# A client chooses its id (base64 of a uuid in all clients seen); a classic client inside the group has a classic one.
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"

_A_BUMP = "[2026-11-21 01:46:05,182] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Bumped group epoch to 1 with metadata hash 7169820988903944773. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_TARGET = "[2026-11-21 01:46:05,190] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Computed a new target assignment for epoch 1 with 'uniform' assignor in 6ms. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CLASSIC_LOADING = "[2026-11-21 01:50:53,195] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Loaded classic group audit-static-4 with 0 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CLASSIC_UNLOADING = "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=12] [GroupId=orders-worker-10] Unloading group metadata for generation 4. (org.apache.kafka.coordinator.group.GroupMetadataManager)"

PATTERNS = (
    Pattern(
        pattern_id="kip848.epoch_bumped",
        kind="epoch_bumped",
        loggers=_LOGGERS,
        contains=" Bumped group epoch to ",
        regex=_GROUP + r"Bumped group epoch to (?P<generation>\d+)(?: with metadata hash (?P<detail>-?\d+))?\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} consumerGroupHeartbeat",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:05,182] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Bumped group epoch to 1 with metadata hash 7169820988903944773. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                generation="1",
                detail="7169820988903944773",
            ),
            made(
                "4.0",
                "[2025-03-12 10:00:02,589] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Bumped group epoch to 8. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                generation="8",
            ),
        ),
        counter_samples=(_A_TARGET,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.target_computed",
        kind="target_computed",
        loggers=_LOGGERS,
        contains=" Computed a new target assignment for epoch ",
        regex=_GROUP
        + r"Computed a new target assignment for epoch (?P<generation>\d+) with '(?P<assignor>.+?)' assignor"
        r"(?: in (?P<took_ms>\d+)ms)?(?:: .*)?\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} updateTargetAssignment",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:05,190] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Computed a new target assignment for epoch 1 with 'uniform' assignor in 6ms. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                generation="1",
                assignor="uniform",
                took_ms="6",
            ),
        ),
        counter_samples=(_A_BUMP,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.subscription_metadata",
        kind="subscription_metadata",
        loggers=_LOGGERS,
        contains=" Computed new subscription metadata: ",
        regex=_GROUP + r"Computed new subscription metadata: (?P<detail>.*)\.$",
        versions="3.7-4.0",
        source=f"{_SOURCE} consumerGroupHeartbeat",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:03,137] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Computed new subscription metadata: {orders=TopicMetadata(id=4HkDZxRhQ9unLOl0w9cqWg, name=orders, numPartitions=6, partitionRacks={})}. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                detail="{orders=TopicMetadata(id=4HkDZxRhQ9unLOl0w9cqWg, name=orders, numPartitions=6, partitionRacks={})}",
            ),
        ),
        counter_samples=(_A_TARGET,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.group_converted",
        kind="group_converted",
        loggers=_LOGGERS,
        contains=" Converted the ",
        regex=_GROUP + r"Converted the (?:empty )?\w+ group to a (?P<protocol>\w+) group\.$",
        versions="4.0-4.2",
        source=f"{_SOURCE} convertToConsumerGroup, convertToClassicGroup",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,274] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Converted the classic group to a consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                protocol="consumer",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:03,411] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [GroupId orders-svc] Converted the consumer group to a classic group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                protocol="classic",
            ),
        ),
        counter_samples=(_A_BUMP,),
    ),
    Pattern(
        pattern_id="kip848.group_loaded",
        kind="group_loaded",
        loggers=_LOGGERS,
        contains="Loaded consumer group ",
        regex=JAVA_HEAD + r"Loaded consumer group (?P<group_id>.{1,255}) with (?P<member_count>\d+) members\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} onLoaded",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:50:53,218] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] Loaded consumer group email-next-11 with 0 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                member_count="0",
            ),
        ),
        counter_samples=(_A_CLASSIC_LOADING,),
        constants=CONSUMER,
    ),
    Pattern(
        pattern_id="kip848.group_unloaded",
        kind="group_unloaded",
        loggers=_LOGGERS,
        contains="] Unloaded group metadata for group epoch ",
        regex=JAVA_HEAD
        + r"\[GroupId=(?P<group_id>.{1,255})\] Unloaded group metadata for group epoch (?P<generation>\d+)\.$",
        versions="3.8-4.2",
        source=f"{_SOURCE} onUnloaded",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId=email-next-11] Unloaded group metadata for group epoch 10. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="25",
                group_id="email-next-11",
                generation="10",
            ),
        ),
        counter_samples=(_A_CLASSIC_UNLOADING,),
    ),
)
