"""Causes that lie in one member: it came, it went, it was silent or too slow."""

from spark_jobs.knowledge.model import Cause

MEMBER_CAUSES: tuple[Cause, ...] = (
    Cause(
        code="member_joined",
        symptom="a join phase starts with 'Adding new member'",
        needs="a client that the group had not had within the look-back (24 h)",
        ruled_out_by=(
            "an earlier member with the same instance id, or the same client id and host; a client id that "
            "several members hold at once identifies nobody"
        ),
        witnesses=("broker lines", "client logs", "snapshots"),
        says="a member that the group had not had joined",
        advice=(
            "Nothing to do when you scaled out. When members come and go by themselves, look at what starts "
            "them: an autoscaler, a crash loop, a job scheduler. Cooperative assignment "
            "(CooperativeStickyAssignor) or group.protocol=consumer keeps the others working meanwhile."
        ),
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-394",
        holds=(
            "[2026-11-21 01:41:04,275] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group ads-etl-1 in state PreparingRebalance with old generation 1 "
            "(reason: Adding new member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance "
            "id null; client reason: need to re-join with the given member-id: "
            "ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:18,996] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group ads-etl-1 in state PreparingRebalance with old generation 3 "
            "(reason: Adding new member ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f with group instance "
            "id null; client reason: need to re-join with the given member-id: "
            "ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="member_rejoined",
        symptom="a join phase starts with 'Adding new member'",
        needs="the same client was in the group before and left or was removed",
        ruled_out_by="no earlier member with the same instance id, or the same client id and host",
        witnesses=("broker lines", "client logs", "snapshots"),
        says="a member came back after it had left or been removed",
        advice=(
            "See why it had gone: the rebalance before this one tells. For planned restarts give each member "
            "a group.instance.id and a session timeout longer than a restart takes: then neither the going "
            "nor the coming starts a rebalance."
        ),
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-345",
        holds=(
            "[2026-11-21 01:41:18,996] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Preparing to rebalance group ads-etl-1 in state PreparingRebalance with old generation 3 "
            "(reason: Adding new member ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f with group instance "
            "id null; client reason: need to re-join with the given member-id: "
            "ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting "
            "generation and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
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
    Cause(
        code="member_left",
        symptom="a member leaves by LeaveGroup, or by a heartbeat with epoch -1 under KIP-848",
        needs=(
            "the client says that it was closed or unsubscribed, on the coordinator's line or in its own "
            "log; or its poll limit could not have run out"
        ),
        ruled_out_by="the poll limit ran out, by its own words; an administrator removed it",
        witnesses=("broker lines", "client logs"),
        says="a member closed its consumer, unsubscribed or was shut down",
        advice=(
            "Nothing to do for a planned stop. For deployments use static membership (group.instance.id, "
            "session timeout longer than a restart) or cooperative assignment, and restart one member at a "
            "time."
        ),
        source="KIP-800; AbstractCoordinator.java maybeLeaveGroup",
        holds=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "[Group ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group "
            "through explicit `LeaveGroup` request; client reason: the consumer is being closed "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:52,722] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] "
            "Member i1-89570ebe-1cde-411d-b1f0-70d87db1e868 in group audit-static-4 has failed, removing it "
            "from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:37,730] INFO [Consumer instanceId=i1, clientId=audit-static-4-a, "
            "groupId=audit-static-4] Resetting generation and member id due to: consumer pro-actively "
            "leaving the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:49:25,678] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] "
            "[Group ledger-loader-14] Member ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4 has "
            "left group through explicit `LeaveGroup` request; client reason: consumer poll timeout has "
            "expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="heartbeat_expired",
        symptom="'Heartbeat session expired': the coordinator removes a member on heartbeat expiration",
        needs="the same process is heard again afterwards",
        ruled_out_by=(
            "a new process of that client, or nobody, comes back; the member's own log shows a close or an "
            "exceeded poll limit"
        ),
        witnesses=("broker lines", "client logs"),
        says="a member's session ran out while its process was alive",
        advice=(
            "Raise session.timeout.ms (45 s is the default since Kafka 3.0, KIP-735) and keep "
            "heartbeat.interval.ms at most a third of it; look for long GC pauses, CPU throttling, suspended "
            "hosts, and at the network between the member and its coordinator."
        ),
        source="GroupCoordinator.scala onExpireHeartbeat; KIP-735; CommonClientConfigs",
        holds=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing "
            "it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting "
            "generation and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:37,590] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=35] "
            "Member ledger-pyk-2-b-149ad7d3-a05c-498f-ba96-13917c6f4074 in group ledger-pyk-2 has failed, "
            "removing it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="member_dead",
        symptom="'Member is dead': the coordinator removes a member on heartbeat expiration",
        needs=(
            "a new process of that client came, its own log breaks off without a close, or nobody came back "
            "within 10 minutes"
        ),
        ruled_out_by="the same process is heard again; its own log shows a close",
        witnesses=("broker lines", "client logs"),
        says="a member's session ran out and its process was gone",
        advice=(
            "Find out why the consumer crashed: exit code, out-of-memory kills, the last lines of its own "
            "log, the host. Make it close its consumer on shutdown signals, so that the group need not wait "
            "for the session to run out."
        ),
        source="GroupCoordinator.scala onExpireHeartbeat; GroupMetadataManager.java; KIP-848",
        holds=(
            "[2026-11-21 01:41:37,590] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=35] "
            "Member ledger-pyk-2-b-149ad7d3-a05c-498f-ba96-13917c6f4074 in group ledger-pyk-2 has failed, "
            "removing it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:47:08,865] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] "
            "[GroupId email-next-11] Member zzjkQj_MRce186K6U2x0Aw fenced from the group because the member "
            "session expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing "
            "it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting "
            "generation and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="max_poll_exceeded",
        symptom="'Max poll interval exceeded': a member leaves since it did not poll in time",
        needs="the client says so, to the coordinator (KIP-800) or in its own log",
        ruled_out_by=(
            "the client says that it was closed; less time than the poll limit has passed since it last joined"
        ),
        witnesses=("broker lines", "client logs"),
        says="processing took longer than max.poll.interval.ms",
        advice=(
            "Lower max.poll.records, speed up the processing of a batch or move it off the poll loop, or "
            "raise max.poll.interval.ms above the longest batch."
        ),
        source="KIP-62, KIP-800; AbstractCoordinator.java; rdkafka_cgrp.c",
        holds=(
            "[2026-11-21 01:49:25,678] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] "
            "[Group ledger-loader-14] Member ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4 has "
            "left group through explicit `LeaveGroup` request; client reason: consumer poll timeout has "
            "expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:57,367] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] "
            "[Group geo-py-5] Member geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee has left group through "
            "explicit `LeaveGroup` request; client reason: not provided "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "%4|1795225377.365|MAXPOLL|geo-py-5-b#consumer-1| [thrd:main]: Application maximum poll interval "
            "(9000ms) exceeded by 97ms (adjust max.poll.interval.ms for long-running message processing): "
            "leaving group",
        ),
        looks_alike=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "[Group ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group "
            "through explicit `LeaveGroup` request; client reason: the consumer is being closed "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="sync_timeout",
        symptom="the coordinator removes members 'on pending sync request expiration'",
        needs="that reason",
        ruled_out_by="another reason",
        witnesses=("broker lines",),
        says="a member joined and never asked for its assignment",
        advice=(
            "The member hung between joining and syncing: look at its log and at the network; upgrade "
            "clients older than 2.x."
        ),
        source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
        holds=(
            "[2026-11-21 12:37:45,916] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=26] "
            "Preparing to rebalance group loader-of-carts-75 in state PreparingRebalance with old generation 3 "
            "(reason: Removing [sink-8fa9c-595b54cd-ffda-423a-990e-6efe0ce4da4d] on pending sync request expiration). "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] "
            "Member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing "
            "it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="join_timeout",
        symptom=("'removed dynamic members who haven't joined', or a KIP-848 member fenced for not leaving its epoch"),
        needs="that line",
        ruled_out_by="a session that ran out",
        witnesses=("broker lines",),
        says="a member did not rejoin in time and was dropped",
        advice=(
            "Its poll loop was stuck while the group rebalanced, for as long as max.poll.interval.ms: "
            "shorten what it does between two polls."
        ),
        source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
        holds=(
            "[2026-11-21 12:19:29,880] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=9] "
            "Group loans-reader-96 removed dynamic members who haven't joined: "
            "[audit-sink-17c8d-ced94512-d90a-42d3-a7a2-bbf0d4cd6606] "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:12,827] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=42] "
            "Stabilized group audit-drag-16 generation 3 with 3 members. "
            "(org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
)
