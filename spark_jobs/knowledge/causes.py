"""Why rebalances begin: each cause once, with what it needs, what rules it out, what to do, and captured lines."""

from spark_jobs.knowledge.model import Cause

CAUSES: tuple[Cause, ...] = (
    Cause(
        code="member_joined",
        symptom="a join phase starts with 'Adding new member'",
        needs="a client that the group had not had within the look-back (24 h)",
        ruled_out_by=(
            "an earlier member with the same instance id, or the same client id and host; a client id that se"
            "veral members hold at once identifies nobody"
        ),
        witnesses=("broker lines", "client logs", "snapshots"),
        says="a member that the group had not had joined",
        advice=(
            "Nothing to do when you scaled out. When members come and go by themselves, look at what starts t"
            "hem: an autoscaler, a crash loop, a job scheduler. Cooperative assignment (CooperativeStickyAssi"
            "gnor) or group.protocol=consumer keeps the others working meanwhile."
        ),
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-394",
        holds=(
            "[2026-11-21 01:41:04,275] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group ads-etl-1 in state PreparingRebalance with old generation 1 (reason: A"
            "dding new member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance id null; c"
            "lient reason: need to re-join with the given member-id: ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad"
            "0d1e11a4). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:18,996] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group ads-etl-1 in state PreparingRebalance with old generation 3 (reason: A"
            "dding new member ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f with group instance id null; c"
            "lient reason: need to re-join with the given member-id: ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad"
            "44b39a4f). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
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
            "a group.instance.id and a session timeout longer than a restart takes: then neither the going no"
            "r the coming starts a rebalance."
        ),
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-345",
        holds=(
            "[2026-11-21 01:41:18,996] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group ads-etl-1 in state PreparingRebalance with old generation 3 (reason: A"
            "dding new member ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad44b39a4f with group instance id null; c"
            "lient reason: need to re-join with the given member-id: ads-etl-1-b-5e48ec08-c5a2-4c85-be06-cdad"
            "44b39a4f). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting gene"
            "ration and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response (org.apac"
            "he.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:04,275] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group ads-etl-1 in state PreparingRebalance with old generation 1 (reason: A"
            "dding new member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance id null; c"
            "lient reason: need to re-join with the given member-id: ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad"
            "0d1e11a4). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="member_left",
        symptom="a member leaves by LeaveGroup, or by a heartbeat with epoch -1 under KIP-848",
        needs=(
            "the client says that it was closed or unsubscribed, on the coordinator's line or in its own log;"
            " or its poll limit could not have run out"
        ),
        ruled_out_by="the poll limit ran out, by its own words; an administrator removed it",
        witnesses=("broker lines", "client logs"),
        says="a member closed its consumer, unsubscribed or was shut down",
        advice=(
            "Nothing to do for a planned stop. For deployments use static membership (group.instance.id, sess"
            "ion timeout longer than a restart) or cooperative assignment, and restart one member at a time."
        ),
        source="KIP-800; AbstractCoordinator.java maybeLeaveGroup",
        holds=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] [Gr"
            "oup ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group through ex"
            "plicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coord"
            "inator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:52,722] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Mem"
            "ber i1-89570ebe-1cde-411d-b1f0-70d87db1e868 in group audit-static-4 has failed, removing it from"
            " the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:37,730] INFO [Consumer instanceId=i1, clientId=audit-static-4-a, groupId=audit"
            "-static-4] Resetting generation and member id due to: consumer pro-actively leaving the group (o"
            "rg.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:49:25,678] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] [Gr"
            "oup ledger-loader-14] Member ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4 has left gr"
            "oup through explicit `LeaveGroup` request; client reason: consumer poll timeout has expired. (or"
            "g.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="heartbeat_expired",
        symptom="'Heartbeat session expired': the coordinator removes a member on heartbeat expiration",
        needs="the same process is heard again afterwards",
        ruled_out_by=(
            "a new process of that client, or nobody, comes back; the member's own log shows a close or an ex"
            "ceeded poll limit"
        ),
        witnesses=("broker lines", "client logs"),
        says="a member's session ran out while its process was alive",
        advice=(
            "Raise session.timeout.ms (45 s is the default since Kafka 3.0, KIP-735) and keep heartbeat.inter"
            "val.ms at most a third of it; look for long GC pauses, CPU throttling, suspended hosts, and at t"
            "he network between the member and its coordinator."
        ),
        source="GroupCoordinator.scala onExpireHeartbeat; KIP-735; CommonClientConfigs",
        holds=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Mem"
            "ber ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing it "
            "from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting gene"
            "ration and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response (org.apac"
            "he.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:37,590] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=35] Mem"
            "ber ledger-pyk-2-b-149ad7d3-a05c-498f-ba96-13917c6f4074 in group ledger-pyk-2 has failed, removi"
            "ng it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="member_dead",
        symptom="'Member is dead': the coordinator removes a member on heartbeat expiration",
        needs=(
            "a new process of that client came, its own log breaks off without a close, or nobody came back w"
            "ithin 10 minutes"
        ),
        ruled_out_by="the same process is heard again; its own log shows a close",
        witnesses=("broker lines", "client logs"),
        says="a member's session ran out and its process was gone",
        advice=(
            "Find out why the consumer crashed: exit code, out-of-memory kills, the last lines of its own log"
            ", the host. Make it close its consumer on shutdown signals, so that the group need not wait for "
            "the session to run out."
        ),
        source="GroupCoordinator.scala onExpireHeartbeat; GroupMetadataManager.java; KIP-848",
        holds=(
            "[2026-11-21 01:41:37,590] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=35] Mem"
            "ber ledger-pyk-2-b-149ad7d3-a05c-498f-ba96-13917c6f4074 in group ledger-pyk-2 has failed, removi"
            "ng it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:47:08,865] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [Gr"
            "oupId email-next-11] Member zzjkQj_MRce186K6U2x0Aw fenced from the group because the member sess"
            "ion expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Mem"
            "ber ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing it "
            "from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:41:18,990] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Resetting gene"
            "ration and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response (org.apac"
            "he.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="max_poll_exceeded",
        symptom="'Max poll interval exceeded': a member leaves since it did not poll in time",
        needs="the client says so, to the coordinator (KIP-800) or in its own log",
        ruled_out_by=(
            "the client says that it was closed; less time than the poll limit has passed since it last joine"
            "d"
        ),
        witnesses=("broker lines", "client logs"),
        says="processing took longer than max.poll.interval.ms",
        advice=(
            "Lower max.poll.records, speed up the processing of a batch or move it off the poll loop, or rais"
            "e max.poll.interval.ms above the longest batch."
        ),
        source="KIP-62, KIP-800; AbstractCoordinator.java; rdkafka_cgrp.c",
        holds=(
            "[2026-11-21 01:49:25,678] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] [Gr"
            "oup ledger-loader-14] Member ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4 has left gr"
            "oup through explicit `LeaveGroup` request; client reason: consumer poll timeout has expired. (or"
            "g.apache.kafka.coordinator.group.GroupMetadataManager)",
            "[2026-11-21 01:42:57,367] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] [Gr"
            "oup geo-py-5] Member geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee has left group through expl"
            "icit `LeaveGroup` request; client reason: not provided (org.apache.kafka.coordinator.group.Group"
            "MetadataManager)",
            "%4|1795225377.365|MAXPOLL|geo-py-5-b#consumer-1| [thrd:main]: Application maximum poll interval "
            "(9000ms) exceeded by 97ms (adjust max.poll.interval.ms for long-running message processing): lea"
            "ving group",
        ),
        looks_alike=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] [Gr"
            "oup ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group through ex"
            "plicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coord"
            "inator.group.GroupMetadataManager)",
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
            "The member hung between joining and syncing: look at its log and at the network; upgrade clients"
            " older than 2.x."
        ),
        source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group billing in state PreparingRebalance with old generation 4 (reason: Rem"
            "oving [billing-1-3526ebef-dc38-4338-91a3-b8ad0d1e11a4] on pending sync request expiration). (org"
            ".apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Mem"
            "ber ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing it "
            "from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="join_timeout",
        symptom=(
            "'removed dynamic members who haven't joined', or a KIP-848 member fenced for not leaving its epo"
            "ch"
        ),
        needs="that line",
        ruled_out_by="a session that ran out",
        witnesses=("broker lines",),
        says="a member did not rejoin in time and was dropped",
        advice=(
            "Its poll loop was stuck while the group rebalanced, for as long as max.poll.interval.ms: shorten"
            " what it does between two polls."
        ),
        source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Gro"
            "up billing removed dynamic members who haven't joined: [billing-1-3526ebef-dc38-4338-91a3-b8ad0d"
            "1e11a4] (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:12,827] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=42] Sta"
            "bilized group audit-drag-16 generation 3 with 3 members. (org.apache.kafka.coordinator.group.Gro"
            "upMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="subscription_changed",
        symptom="a member of the group rejoins with other metadata",
        needs="the client says 'subscription has changed', or subscribes anew in its own log just before",
        ruled_out_by="the client names revoked partitions, changed topics, or its own request",
        witnesses=("broker lines", "client logs"),
        says="a member subscribed to other topics",
        advice=(
            "Nothing to do when the application meant it. Members of one group with different subscriptions r"
            "ebalance more and spread worse: give them groups of their own."
        ),
        source="ConsumerCoordinator.java rejoinNeededOrPending; KIP-800",
        holds=(
            "[2026-11-21 01:41:50,782] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] Prep"
            "aring to rebalance group mobile-sub-3 in state PreparingRebalance with old generation 2 (reason:"
            " Updating metadata for member mobile-sub-3-b-4ac5fd15-3ef6-41b8-ac4d-d1ffffd90c58 during Stable;"
            " client reason: subscription has changed). (org.apache.kafka.coordinator.group.GroupMetadataMana"
            "ger)",
            "[2026-11-21 01:41:50,768] INFO [Consumer clientId=mobile-sub-3-b, groupId=mobile-sub-3] Request "
            "joining group due to: subscription has changed from [shop-events] at the beginning of the rebala"
            "nce to [shop-events, mobile-sub-3-t] (org.apache.kafka.clients.consumer.internals.ConsumerCoordi"
            "nator)",
        ),
        looks_alike=(
            "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] Pre"
            "paring to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 (reason: "
            "Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; cl"
            "ient reason: asked by operator). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
    Cause(
        code="partitions_added",
        symptom="the leader of the group rejoins over changed metadata",
        needs=(
            "the client's own log shows a topic with more partitions than before, or partitions were added to"
            " one topic just before"
        ),
        ruled_out_by="the log names added or removed topics",
        witnesses=("broker lines", "client logs"),
        says="partitions were added to a subscribed topic",
        advice=(
            "Expected once for each change. Add partitions in quiet hours and in one step; keys move to other"
            " partitions."
        ),
        source="ConsumerCoordinator.java MetadataSnapshot; KAFKA-3888",
        holds=(
            "[2026-11-21 01:47:58,689] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=20] Pre"
            "paring to rebalance group stock-grow-12 in state PreparingRebalance with old generation 2 (reaso"
            "n: Leader stock-grow-12-a-fa6da03f-cf15-4f0d-a194-abbca802bf98 re-joining group during Stable; c"
            "lient reason: cached metadata has changed). (org.apache.kafka.coordinator.group.GroupMetadataMan"
            "ager)",
            "[2026-11-21 01:47:58,680] INFO [Consumer clientId=stock-grow-12-a, groupId=stock-grow-12] Reques"
            "t joining group due to: cached metadata has changed from (version3: {stock-grow-12-t=[NO_RACKS, "
            "NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version4: {stock-grow-12-t=[NO_RACKS"
            ", NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consum"
            "er.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request joinin"
            "g group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, NO_RACKS, N"
            "O_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, NO_RACKS, N"
            "O_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consumer.inter"
            "nals.ConsumerCoordinator)",
        ),
    ),
    Cause(
        code="topic_created",
        symptom="the leader of the group rejoins over changed metadata",
        needs=(
            "the client's own log shows a topic that was not there before, or one topic was created just befo"
            "re"
        ),
        ruled_out_by="the log names removed topics or more partitions of the same",
        witnesses=("broker lines", "client logs"),
        says="a topic that the group subscribes to came into being",
        advice=(
            "Expected with a subscription by pattern. Narrow the pattern when it catches topics it should not"
            "."
        ),
        source="ConsumerCoordinator.java MetadataSnapshot, updatePatternSubscription",
        holds=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request joinin"
            "g group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, NO_RACKS, N"
            "O_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, NO_RACKS, N"
            "O_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consumer.inter"
            "nals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:47:58,680] INFO [Consumer clientId=stock-grow-12-a, groupId=stock-grow-12] Reques"
            "t joining group due to: cached metadata has changed from (version3: {stock-grow-12-t=[NO_RACKS, "
            "NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version4: {stock-grow-12-t=[NO_RACKS"
            ", NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consum"
            "er.internals.ConsumerCoordinator)",
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
            "group due to: cached metadata has changed from (version11: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, NO_"
            "RACKS], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (versi"
            "on13: {crm-rx-6-x1=[], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.co"
            "nsumer.internals.ConsumerCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:48:19,237] INFO [Consumer clientId=ads-rx-13-a, groupId=ads-rx-13] Request joinin"
            "g group due to: cached metadata has changed from (version8: {ads-rx-13-x1=[NO_RACKS, NO_RACKS, N"
            "O_RACKS]}) at the beginning of the rebalance to (version10: {ads-rx-13-x2=[NO_RACKS, NO_RACKS, N"
            "O_RACKS], ads-rx-13-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consumer.inter"
            "nals.ConsumerCoordinator)",
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
            "[2026-11-21 01:47:58,689] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=20] Pre"
            "paring to rebalance group stock-grow-12 in state PreparingRebalance with old generation 2 (reaso"
            "n: Leader stock-grow-12-a-fa6da03f-cf15-4f0d-a194-abbca802bf98 re-joining group during Stable; c"
            "lient reason: cached metadata has changed). (org.apache.kafka.coordinator.group.GroupMetadataMan"
            "ager)",
        ),
        looks_alike=(
            "[2026-11-21 01:43:16,678] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=29] Pre"
            "paring to rebalance group search-coop-6 in state PreparingRebalance with old generation 2 (reaso"
            "n: Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during Stable; c"
            "lient reason: need to revoke partitions and re-join). (org.apache.kafka.coordinator.group.GroupM"
            "etadataManager)",
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
            "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] Pre"
            "paring to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 (reason: "
            "Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; cl"
            "ient reason: asked by operator). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:50,782] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] Prep"
            "aring to rebalance group mobile-sub-3 in state PreparingRebalance with old generation 2 (reason:"
            " Updating metadata for member mobile-sub-3-b-4ac5fd15-3ef6-41b8-ac4d-d1ffffd90c58 during Stable;"
            " client reason: subscription has changed). (org.apache.kafka.coordinator.group.GroupMetadataMana"
            "ger)",
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
            "Ask who ran removeMembersFromConsumerGroup or kafka-streams-application-reset; the member itself"
            " sees a fenced instance id."
        ),
        source="KafkaAdminClient.java DEFAULT_LEAVE_GROUP_REASON; KIP-345",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] [Gr"
            "oup billing] Member billing-1-3526ebef-dc38-4338-91a3-b8ad0d1e11a4 has left group through explic"
            "it `LeaveGroup` request; client reason: member was removed by an admin (org.apache.kafka.coordin"
            "ator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:23,542] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] [Gr"
            "oup ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 has left group through ex"
            "plicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coord"
            "inator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="cooperative_followup",
        symptom="a member of the group rejoins at once after a rebalance",
        needs=(
            "the reason 'need to revoke partitions and re-join'; without reasons, a cooperative member that r"
            "ejoins within seconds of the assignment"
        ),
        ruled_out_by="an eager assignor; another reason",
        witnesses=("broker lines", "client logs"),
        says="the second half of a cooperative rebalance",
        advice=(
            "Nothing to do: cooperative members give partitions back first and take them in a second, short r"
            "ebalance, without stopping the rest. group.protocol=consumer (KIP-848) needs none."
        ),
        source="KIP-429; ConsumerCoordinator.java onJoinComplete",
        holds=(
            "[2026-11-21 01:43:16,678] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=29] Pre"
            "paring to rebalance group search-coop-6 in state PreparingRebalance with old generation 2 (reaso"
            "n: Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during Stable; c"
            "lient reason: need to revoke partitions and re-join). (org.apache.kafka.coordinator.group.GroupM"
            "etadataManager)",
            "[2026-11-21 01:49:25,358] INFO [GroupCoordinator 1]: Preparing to rebalance group fraud-coop-9 i"
            "n state PreparingRebalance with old generation 2 (__consumer_offsets-24) (reason: leader fraud-c"
            "oop-9-a-5fde0c06-21d5-4ca9-9c8f-0d2e52b694d7 re-joining group during Stable) (kafka.coordinator."
            "group.GroupCoordinator)",
        ),
        looks_alike=(
            "[2026-11-21 01:44:43,079] INFO [GroupCoordinator 3]: Preparing to rebalance group crm-rx-1 in st"
            "ate PreparingRebalance with old generation 1 (__consumer_offsets-47) (reason: leader crm-rx-1-a-"
            "b10b3c53-8ffd-41bf-b247-82449ee0e258 re-joining group during Stable) (kafka.coordinator.group.Gr"
            "oupCoordinator)",
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
            "Keep subscription and assignors of static members the same over a restart, and let no two proces"
            "ses share one group.instance.id."
        ),
        source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
        holds=(
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group billing in state PreparingRebalance with old generation 4 (reason: Upd"
            "ating metadata for static member i2-3526ebef-dc38-4338-91a3-b8ad0d1e11a4 with instance id i2; cl"
            "ient reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Sta"
            "tic member with groupInstanceId=i2 and unknown member id joins group audit-static-4 in Stable st"
            "ate. Replacing previously mapped member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with this groupI"
            "nstanceId. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
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
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group billing in state PreparingRebalance with old generation 4 (reason: Gro"
            "up's selectedProtocol will change because static member i2-3526ebef-dc38-4338-91a3-b8ad0d1e11a4 "
            "with instance id i2 joined with change of protocol; client reason: not provided). (org.apache.ka"
            "fka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:42:05,626] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Pre"
            "paring to rebalance group audit-static-4 in state PreparingRebalance with old generation 1 (reas"
            "on: Adding new member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with group instance id i2; client "
            "reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
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
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group billing in state PreparingRebalance with old generation 4 (reason: Fre"
            "shly-loaded group billing (size 9) is over capacity 8. Rebalancing in order to give a chance for"
            " consumers to commit offsets). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:38,372] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] Load"
            "ed classic group geo-coord-17 with 2 members. (org.apache.kafka.coordinator.group.GroupMetadataM"
            "anager)",
        ),
        made=True,
    ),
    Cause(
        code="coordinator_moved",
        symptom="a group rebalances while its coordinator moves to another broker",
        needs=(
            "the move fell into the rebalance and cut it short, or a member rejoined at the new coordinator s"
            "ince it had"
        ),
        ruled_out_by="a group that was stable when it moved: a move alone starts no rebalance",
        witnesses=("broker lines", "client logs"),
        says="the move of the coordinator cut a rebalance short",
        advice="See the broker outage or the election behind it. Nothing is wrong with the group.",
        source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
        holds=(
            "[2026-11-21 01:50:53,096] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] [Gro"
            "upId=geo-coord-17] Unloading group metadata for generation 2. (org.apache.kafka.coordinator.grou"
            "p.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:50:38,372] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=8] Load"
            "ed classic group geo-coord-17 with 2 members. (org.apache.kafka.coordinator.group.GroupMetadataM"
            "anager)",
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
            "[2026-11-21 02:00:00,000] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group billing in state PreparingRebalance with old generation 4 (reason: Err"
            "or NOT_COORDINATOR when storing group assignmentduring SyncGroup (member: billing-1-3526ebef-dc3"
            "8-4338-91a3-b8ad0d1e11a4).). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:13,807] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Mem"
            "ber ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 in group ads-etl-1 has failed, removing it "
            "from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        made=True,
    ),
    Cause(
        code="unknown",
        symptom="a rebalance whose reason is missing or tells nothing",
        needs="nothing: the evidence does not tell",
        ruled_out_by="any evidence that tells",
        witnesses=(),
        says="the evidence does not tell",
        advice=(
            "Give Hindsight the logs of every broker and of the clients, and look at the coverage for this ti"
            "me."
        ),
        source="brokers before 2.1 write no reason",
        holds=(
            "[2026-11-21 01:50:12,827] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=42] Sta"
            "bilized group audit-drag-16 generation 3 with 3 members. (org.apache.kafka.coordinator.group.Gro"
            "upMetadataManager)",
        ),
        looks_alike=(
            "[2026-11-21 01:41:04,275] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=46] Pre"
            "paring to rebalance group ads-etl-1 in state PreparingRebalance with old generation 1 (reason: A"
            "dding new member ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad0d1e11a4 with group instance id null; c"
            "lient reason: need to re-join with the given member-id: ads-etl-1-b-35264ebf-dc38-4338-91a3-b8ad"
            "0d1e11a4). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ),
)

CAUSE_BY_CODE: dict[str, Cause] = {cause.code: cause for cause in CAUSES}
