"""Causes that lie with the coordinator, and the honest answer where none can be told."""

from spark_jobs.knowledge.model import Cause

COORDINATOR_CAUSES: tuple[Cause, ...] = (
    Cause(
        code="group_over_capacity",
        symptom="a coordinator that loads a group rebalances it",
        needs="the reason 'Freshly-loaded group is over capacity'",
        ruled_out_by="another reason",
        witnesses=("broker lines",),
        says="the group has more members than group.max.size",
        advice="Raise group.max.size on the brokers or run fewer members.",
        source="KIP-389; GroupCoordinator.scala onGroupLoaded",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group billing in state PreparingRebalance with old generation 4 (reason: "
            "Freshly-loaded group billing (size 9) is over capacity 8. Rebalancing in order to give a chance "
            "for consumers to commit offsets). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:38,372] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] "
            "Loaded classic group geo-coord-17 with 2 members. "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="coordinator_moved",
        symptom="a group rebalances while its coordinator moves to another broker",
        needs=(
            "the move fell into the rebalance and cut it short, or a member rejoined at the new coordinator "
            "since it had"
        ),
        ruled_out_by="a group that was stable when it moved: a move alone starts no rebalance",
        witnesses=("broker lines", "client logs"),
        says="the move of the coordinator cut a rebalance short",
        advice="See the broker outage or the election behind it. Nothing is wrong with the group.",
        source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
        holds=(
            "[2026-11-21 01:50:53,096] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] "
            "[GroupId=geo-coord-17] Unloading group metadata for generation 2. "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:38,372] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] "
            "Loaded classic group geo-coord-17 with 2 members. "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="storage_error",
        symptom="the coordinator begins a rebalance since it could not store the assignment",
        needs="the reason 'Error ... when storing group assignment'",
        ruled_out_by="another reason",
        witnesses=("broker lines",),
        says="the coordinator could not write to __consumer_offsets",
        advice=(
            "Look at the ISR of the group's partition of __consumer_offsets against its min.insync.replicas, "
            "and at the size of the group's metadata against max.message.bytes."
        ),
        source="GroupCoordinator.scala propagateAssignment; GroupMetadataManager.java",
        holds=(
            "[2026-11-21 12:35:46,475] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] "
            "Preparing to rebalance group ledger.bridge.v47 in state PreparingRebalance with old generation 2 (reason: "
            "Error COORDINATOR_NOT_AVAILABLE when storing group assignmentduring SyncGroup (member: "
            "ledger.bridge.v47-facf5-7d78e7e1-67d8-4803-b67f-dae2b362859c).). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing "
            "it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="unknown",
        symptom="a rebalance whose reason is missing or tells nothing",
        needs="nothing: the evidence does not tell",
        ruled_out_by="any evidence that tells",
        witnesses=(),
        says="the evidence does not tell",
        advice=("Give Hindsight the logs of every broker and of the clients, and look at the coverage for this time."),
        source="brokers before 2.1 write no reason",
        holds=(
            "[2026-11-21 01:50:12,827] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=42] "
            "Stabilized group audit-drag-16 generation 3 with 3 members. "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:04,275] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group ads-etl-1 in state PreparingRebalance with old generation 1 "
            "(reason: Adding new member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance "
            "id null; client reason: need to re-join with the given member-id: "
            "ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
)
