"""Causes that lie in what the group reads, or in what the application asked for."""

from spark_jobs.knowledge.model import Cause

CHANGE_CAUSES: tuple[Cause, ...] = (
    Cause(
        code="subscription_changed",
        symptom="a member of the group rejoins with other metadata",
        needs="the client says 'subscription has changed', or subscribes anew in its own log just before",
        ruled_out_by="the client names revoked partitions, changed topics, or its own request",
        witnesses=("broker lines", "client logs"),
        says="a member subscribed to other topics",
        advice=(
            "Nothing to do when the application meant it. Members of one group with different subscriptions "
            "rebalance more and spread worse: give them groups of their own."
        ),
        source="ConsumerCoordinator.java rejoinNeededOrPending; KIP-800",
        holds=(
            "[2026-11-21 01:41:50,782] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] "
            "Preparing to rebalance group mobile-sub-3 in state PreparingRebalance with old generation 2 "
            "(reason: Updating metadata for member mobile-sub-3-b-4ac5fd15-3ef6-41b8-ac4d-d1ffffd90c58 "
            "during Stable; client reason: subscription has changed). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:50,768] INFO [Consumer clientId=mobile-sub-3-b, groupId=mobile-sub-3] Request "
            "joining group due to: subscription has changed from [shop-events] at the beginning of the "
            "rebalance to [shop-events, mobile-sub-3-t] "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] "
            "Preparing to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 "
            "(reason: Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during "
            "Stable; client reason: asked by operator). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="partitions_added",
        symptom="the leader of the group rejoins over changed metadata",
        needs=(
            "the client's own log shows a topic with more partitions than before, or partitions were added "
            "to one topic just before"
        ),
        ruled_out_by="the log names added or removed topics",
        witnesses=("broker lines", "client logs"),
        says="partitions were added to a subscribed topic",
        advice=(
            "Expected once for each change. Add partitions in quiet hours and in one step; keys move to "
            "other partitions."
        ),
        source="ConsumerCoordinator.java MetadataSnapshot; KAFKA-3888",
        holds=(
            "[2026-11-21 01:47:58,689] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=20] "
            "Preparing to rebalance group stock-grow-12 in state PreparingRebalance with old generation 2 "
            "(reason: Leader stock-grow-12-a-fa6da03f-cf15-4f0d-a194-abbca802bf98 re-joining group during "
            "Stable; client reason: cached metadata has changed). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:47:58,680] INFO [Consumer clientId=stock-grow-12-a, groupId=stock-grow-12] "
            "Request joining group due to: cached metadata has changed from (version3: "
            "{stock-grow-12-t=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to "
            "(version4: {stock-grow-12-t=[NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, "
            "NO_RACKS]}) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request "
            "joining group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, "
            "NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, "
            "NO_RACKS, NO_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="topic_created",
        symptom="the leader of the group rejoins over changed metadata",
        needs=("the client's own log shows a topic that was not there before, or one topic was created just before"),
        ruled_out_by="the log names removed topics or more partitions of the same",
        witnesses=("broker lines", "client logs"),
        says="a topic that the group subscribes to came into being",
        advice=("Expected with a subscription by pattern. Narrow the pattern when it catches topics it should not."),
        source="ConsumerCoordinator.java MetadataSnapshot, updatePatternSubscription",
        holds=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request "
            "joining group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, "
            "NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, "
            "NO_RACKS, NO_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:47:58,680] INFO [Consumer clientId=stock-grow-12-a, groupId=stock-grow-12] "
            "Request joining group due to: cached metadata has changed from (version3: "
            "{stock-grow-12-t=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to "
            "(version4: {stock-grow-12-t=[NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, "
            "NO_RACKS]}) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="topic_deleted",
        symptom="the leader of the group rejoins over changed metadata",
        needs="the client's own log shows a topic gone, or one topic was deleted just before",
        ruled_out_by="the log names added topics or more partitions",
        witnesses=("broker lines", "client logs"),
        says="a topic that the group subscribes to was deleted",
        advice="Check that the deletion was meant; unsubscribe members from a topic before it is deleted.",
        source="ConsumerCoordinator.java MetadataSnapshot",
        holds=(
            "[2026-11-21 01:55:59,641] INFO [Consumer clientId=crm-rx-6-a, groupId=crm-rx-6] Request joining "
            "group due to: cached metadata has changed from (version11: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, "
            "NO_RACKS], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to "
            "(version13: {crm-rx-6-x1=[], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]}) "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request "
            "joining group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, "
            "NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, "
            "NO_RACKS, NO_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="metadata_changed",
        symptom="the leader of the group rejoins over changed metadata",
        needs="the reason 'cached metadata has changed', and nothing that tells which change it was",
        ruled_out_by="a witness that names the change",
        witnesses=("broker lines",),
        says="a leader rejoined over changed metadata, and nothing tells which change it was",
        advice="Give Hindsight the leader's own log (CLIENT_LOGS): it names the topics.",
        source="ConsumerCoordinator.java rejoinNeededOrPending; KIP-800",
        holds=(
            "[2026-11-21 01:47:58,689] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=20] "
            "Preparing to rebalance group stock-grow-12 in state PreparingRebalance with old generation 2 "
            "(reason: Leader stock-grow-12-a-fa6da03f-cf15-4f0d-a194-abbca802bf98 re-joining group during "
            "Stable; client reason: cached metadata has changed). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:43:16,678] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=29] "
            "Preparing to rebalance group search-coop-6 in state PreparingRebalance with old generation 2 "
            "(reason: Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during "
            "Stable; client reason: need to revoke partitions and re-join). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="client_requested",
        symptom="a member of the group rejoins with a reason of its own",
        needs="the default reason of enforceRebalance, or words that no client writes by itself",
        ruled_out_by="a reason that clients write by themselves",
        witnesses=("broker lines", "client logs"),
        says="the application asked for a rebalance",
        advice="Look at what calls enforceRebalance (Kafka Streams and Connect do); nothing else is wrong.",
        source="Consumer.enforceRebalance; KIP-568, KIP-800",
        holds=(
            "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] "
            "Preparing to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 "
            "(reason: Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during "
            "Stable; client reason: asked by operator). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:50,782] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] "
            "Preparing to rebalance group mobile-sub-3 in state PreparingRebalance with old generation 2 "
            "(reason: Updating metadata for member mobile-sub-3-b-4ac5fd15-3ef6-41b8-ac4d-d1ffffd90c58 "
            "during Stable; client reason: subscription has changed). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="removed_by_admin",
        symptom="a member leaves with the reason 'member was removed by an admin'",
        needs="that reason, or a LeaveGroup that names no member id",
        ruled_out_by="the client says that it was closed",
        witnesses=("broker lines",),
        says="someone removed a member",
        advice=(
            "Ask who ran removeMembersFromConsumerGroup or kafka-streams-application-reset; the member "
            "itself sees a fenced instance id."
        ),
        source="KafkaAdminClient.java DEFAULT_LEAVE_GROUP_REASON; KIP-345",
        holds=(
            "[2026-11-21 12:05:50,229] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=2] "
            "[Group fraud.etl.v21] Member i2-69737404-7449-4396-b5b8-d0e91e473d5e has left group through "
            "explicit `LeaveGroup` request; client reason: member was removed by an admin "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "[Group ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group "
            "through explicit `LeaveGroup` request; client reason: the consumer is being closed "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="cooperative_followup",
        symptom="a member of the group rejoins at once after a rebalance",
        needs=(
            "the reason 'need to revoke partitions and re-join'; without reasons, a cooperative member that "
            "rejoins within seconds of the assignment"
        ),
        ruled_out_by="an eager assignor; another reason",
        witnesses=("broker lines", "client logs"),
        says="the second half of a cooperative rebalance",
        advice=(
            "Nothing to do: cooperative members give partitions back first and take them in a second, short "
            "rebalance, without stopping the rest. group.protocol=consumer (KIP-848) needs none."
        ),
        source="KIP-429; ConsumerCoordinator.java onJoinComplete",
        holds=(
            "[2026-11-21 01:43:16,678] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=29] "
            "Preparing to rebalance group search-coop-6 in state PreparingRebalance with old generation 2 "
            "(reason: Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during "
            "Stable; client reason: need to revoke partitions and re-join). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:49:25,358] INFO [GroupCoordinator 1]: Preparing to rebalance group fraud-coop-9 "
            "in state PreparingRebalance with old generation 2 (__consumer_offsets-24) (reason: leader "
            "fraud-coop-9-a-5fde0c06-21d5-4ca9-9c8f-0d2e52b694d7 re-joining group during Stable) "
            "(kafka.coordinator.group.GroupCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:44:43,079] INFO [GroupCoordinator 3]: Preparing to rebalance group crm-rx-1 in "
            "state PreparingRebalance with old generation 1 (__consumer_offsets-47) (reason: leader "
            "crm-rx-1-a-b10b3c53-8ffd-41bf-b247-82449ee0e258 re-joining group during Stable) "
            "(kafka.coordinator.group.GroupCoordinator)",
        ),
    ),
    Cause(
        code="static_member_changed",
        symptom="a static member comes back and the group rebalances all the same",
        needs="the reason 'Updating metadata for static member' or 'selectedProtocol will change'",
        ruled_out_by="a return that starts no rebalance",
        witnesses=("broker lines",),
        says="a static member came back with other protocols or metadata, or was replaced",
        advice=(
            "Keep subscription and assignors of static members the same over a restart, and let no two "
            "processes share one group.instance.id."
        ),
        source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group billing in state PreparingRebalance with old generation 4 (reason: "
            "Updating metadata for static member i2-3526ebef-dc38-4338-91a3-b8ad0d1e11a4 with instance id "
            "i2; client reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] "
            "Static member with groupInstanceId=i2 and unknown member id joins group audit-static-4 in "
            "Stable state. Replacing previously mapped member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with "
            "this groupInstanceId. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="assignor_changed",
        symptom="a static member comes back with other assignors, so that the group's assignor changes",
        needs="the reason 'selectedProtocol will change'",
        ruled_out_by="metadata alone that changed",
        witnesses=("broker lines",),
        says="the group's assignor changed",
        advice="Finish the rolling upgrade of assignors: each member twice, as KIP-429 tells.",
        source="GroupCoordinator.scala; KIP-429",
        holds=(
            "[2026-11-21 12:17:54,972] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] "
            "Preparing to rebalance group fleet-svc-69 in state PreparingRebalance with old generation 2 (reason: "
            "Group's selectedProtocol will change because static member "
            "i2-b1c0553f-5828-432e-bc4b-c866a1567716 with instance id i2 joined with change of protocol; "
            "client reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:42:05,626] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] "
            "Preparing to rebalance group audit-static-4 in state PreparingRebalance with old generation 1 "
            "(reason: Adding new member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with group instance id i2; "
            "client reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
)
