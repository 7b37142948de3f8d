"""In-sync replicas, logs and fetchers, as the brokers' server logs tell it."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import TOPIC_PARTITION, captured, made

_PARTITION_LOGGERS = ("kafka.cluster.Partition",)
_LOG_LOGGERS = ("kafka.log.Log", "kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog")
_FETCHER_LOGGERS = ("kafka.server.ReplicaFetcherThread",)
_PARTITION = rf"^\[Partition {TOPIC_PARTITION} broker=\d+\] "
_LOG = rf"^\[(?:Unified)?Log partition={TOPIC_PARTITION}, dir=[^\]]*\] "
_FETCHER = r"^\[ReplicaFetcher replicaId=\d+, leaderId=(?P<node>\d+), fetcherId=\d+\] "
_CUTTER = r"^\[ReplicaFetcher replicaId=\d+, leaderId=\d+, fetcherId=\d+\] "
_SOURCE = "core/src/main/scala/kafka/cluster/Partition.scala"
_FETCHER_SOURCE = "core/src/main/scala/kafka/server/AbstractFetcherThread.scala"

_AN_ISR = "[2026-11-21 01:51:30,367] INFO [Partition __consumer_offsets-18 broker=1] ISR updated to 3,1,2  and version updated to 6 (kafka.cluster.Partition)"
_A_LOADED_LOG = "[2026-11-21 01:40:54,556] INFO [Partition shop-events-8 broker=1] Log loaded for partition shop-events-8 with initial high watermark 0 (kafka.cluster.Partition)"
_A_NEW_CHECKPOINT = "[2026-11-21 01:40:54,551] INFO [Partition shop-events-8 broker=1] No checkpointed highwatermark is found for partition shop-events-8 (kafka.cluster.Partition)"
_A_CREATED_LOG = "[2026-11-21 01:40:54,546] INFO Created log for partition shop-events-8 in /var/lib/kafka/data-1/shop-events-8 with properties {} (kafka.log.LogManager)"
_A_VAIN_CUT = "[2026-11-21 01:40:54,890] INFO [UnifiedLog partition=shop-events-0, dir=/var/lib/kafka/data-1] Truncating to 0 has no effect as the largest offset in the log is -1 (org.apache.kafka.storage.internals.log.UnifiedLog)"
_A_VAIN_CUT_2_8 = "[2026-11-21 01:44:25,666] INFO [Log partition=shop-events-1, dir=/var/lib/kafka/data-1] Truncating to 0 has no effect as the largest offset in the log is -1 (kafka.log.Log)"
_AN_OLDER_EPOCH = "[2026-11-21 01:50:53,087] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Partition __consumer_offsets-15 has an older epoch (1) than the current leader. Will await the new LeaderAndIsr state before resuming fetching. (kafka.server.ReplicaFetcherThread)"
_A_FETCHER_CUT = "[2026-11-21 01:51:50,486] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition shop-events-7 with TruncationState(offset=3, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, partition=7, leaderEpoch=0, endOffset=3) (kafka.server.ReplicaFetcherThread)"

PATTERNS = (
    Pattern(
        pattern_id="partition.isr_shrink_proposed",
        kind="isr_shrink_proposed",
        loggers=_PARTITION_LOGGERS,
        contains="Shrinking ISR from ",
        regex=_PARTITION
        + r"Shrinking ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)(?:\. Leader: \(highWatermark: (?P<high_watermark>\d+), "
        r"endOffset: (?P<log_offset>\d+)\)\. Out of sync replicas: (?P<detail>.*)\.)?$",
        versions="1.0-4.2",
        source=f"{_SOURCE} maybeShrinkIsr",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 13:21:40,514] INFO [Partition __consumer_offsets-13 broker=1] Shrinking ISR from 1,3 to 1. Leader: (highWatermark: 0, endOffset: 0). Out of sync replicas: (brokerId: 3, endOffset: -1, lastCaughtUpTimeMs: 1795267291716). (kafka.cluster.Partition)",
                topic="__consumer_offsets",
                partition="13",
                previous_isr="1,3",
                isr="1",
                high_watermark="0",
                log_offset="0",
                detail="(brokerId: 3, endOffset: -1, lastCaughtUpTimeMs: 1795267291716)",
            ),
            made(
                "2.8",
                "[2025-03-12 10:00:00,260] INFO [Partition orders-3 broker=1] Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: 881920, endOffset: 882001). Out of sync replicas: (brokerId: 3, endOffset: 881920). (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                previous_isr="1,2,3",
                isr="1,2",
                high_watermark="881920",
                log_offset="882001",
                detail="(brokerId: 3, endOffset: 881920)",
            ),
        ),
        counter_samples=(_AN_ISR,),
    ),
    Pattern(
        pattern_id="partition.isr_expand_proposed",
        kind="isr_expand_proposed",
        loggers=_PARTITION_LOGGERS,
        contains="Expanding ISR from ",
        regex=_PARTITION + r"Expanding ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)$",
        versions="1.0-2.7",
        source=f"{_SOURCE} maybeExpandIsr",
        samples=(
            made(
                "2.7",
                "[2025-03-12 10:00:00,671] INFO [Partition orders-3 broker=1] Expanding ISR from 1,2 to 1,2,3 (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                previous_isr="1,2",
                isr="1,2,3",
            ),
        ),
        counter_samples=(_AN_ISR,),
    ),
    Pattern(
        pattern_id="partition.isr_updated",
        kind="isr_updated",
        loggers=_PARTITION_LOGGERS,
        contains="ISR updated to ",
        regex=_PARTITION
        + r"ISR updated to \[?(?P<isr>[\d,]*)\]? (?:\(under-min-isr\))? ?and (?:zkV|v)ersion updated to \[?(?P<partition_epoch>\d+)\]?$",
        versions="2.4-4.2",
        source=f"{_SOURCE} handleAlterPartitionUpdate",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:16,316] INFO [Partition __consumer_offsets-15 broker=1] ISR updated to 3,1,2 and version updated to [7] (kafka.cluster.Partition)",
                topic="__consumer_offsets",
                partition="15",
                isr="3,1,2",
                partition_epoch="7",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:02:00,261] INFO [Partition __consumer_offsets-48 broker=1] ISR updated to 3,1,2  and version updated to 6 (kafka.cluster.Partition)",
                topic="__consumer_offsets",
                partition="48",
                isr="3,1,2",
                partition_epoch="6",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:30,367] INFO [Partition __consumer_offsets-18 broker=1] ISR updated to 3,1,2  and version updated to 6 (kafka.cluster.Partition)",
                topic="__consumer_offsets",
                partition="18",
                isr="3,1,2",
                partition_epoch="6",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:00,397] INFO [Partition orders-3 broker=1] ISR updated to 1,2 (under-min-isr) and version updated to 12 (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                isr="1,2",
                partition_epoch="12",
            ),
        ),
        counter_samples=(_A_LOADED_LOG,),
    ),
    Pattern(
        pattern_id="partition.isr_update_rejected",
        kind="isr_update_rejected",
        loggers=_PARTITION_LOGGERS,
        contains="Failed to ",
        regex=_PARTITION
        + r"Failed to (?:alter partition|update ISR) to .+ (?:since the controller rejected the request with|due to unexpected) "
        r"(?P<error>\w+)\. .*$",
        versions="2.8-4.2",
        source=f"{_SOURCE} handleAlterPartitionError",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,945] INFO [Partition orders-3 broker=1] Failed to alter partition to PendingShrinkIsr(sentLeaderAndIsr=..., outOfSyncReplicaIds=Set(3), lastCommittedState=...) since the controller rejected the request with INELIGIBLE_REPLICA. Partition state has been reset to the latest committed state CommittedPartitionState(isr=Set(1, 2, 3), leaderRecoveryState=RECOVERED). (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                error="INELIGIBLE_REPLICA",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:01,082] WARN [Partition orders-3 broker=1] Failed to update ISR to PendingExpandIsr(newInSyncReplicaId=3, ...) due to unexpected NETWORK_EXCEPTION. Retrying. (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                error="NETWORK_EXCEPTION",
            ),
        ),
        counter_samples=(_AN_ISR,),
    ),
    Pattern(
        pattern_id="partition.isr_update_skipped",
        kind="isr_update_rejected",
        loggers=_PARTITION_LOGGERS,
        contains=" not equal to that in zookeeper, skip updating ISR",
        regex=_PARTITION + r"Cached zkVersion \[?\d+\]? (?P<error>not equal to that in zookeeper), skip updating ISR$",
        versions="1.0-2.7",
        source=f"{_SOURCE} updateIsr",
        samples=(
            made(
                "2.7",
                "[2025-03-12 10:00:00,808] INFO [Partition orders-3 broker=1] Cached zkVersion 12 not equal to that in zookeeper, skip updating ISR (kafka.cluster.Partition)",
                topic="orders",
                partition="3",
                error="not equal to that in zookeeper",
            ),
        ),
        counter_samples=(_AN_ISR,),
    ),
    Pattern(
        pattern_id="partition.log_loaded",
        kind="log_loaded",
        loggers=_PARTITION_LOGGERS,
        contains="Log loaded for partition ",
        regex=_PARTITION + r"Log loaded for partition \S+ with initial high watermark (?P<high_watermark>\d+)$",
        versions="2.5-4.2",
        source=f"{_SOURCE} createLog",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:25,496] INFO [Partition shop-events-2 broker=1] Log loaded for partition shop-events-2 with initial high watermark 0 (kafka.cluster.Partition)",
                topic="shop-events",
                partition="2",
                high_watermark="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:01:25,113] INFO [Partition __consumer_offsets-13 broker=1] Log loaded for partition __consumer_offsets-13 with initial high watermark 17 (kafka.cluster.Partition)",
                topic="__consumer_offsets",
                partition="13",
                high_watermark="17",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:54,556] INFO [Partition shop-events-8 broker=1] Log loaded for partition shop-events-8 with initial high watermark 0 (kafka.cluster.Partition)",
                topic="shop-events",
                partition="8",
                high_watermark="0",
            ),
        ),
        counter_samples=(_A_NEW_CHECKPOINT,),
    ),
    Pattern(
        pattern_id="log.end_loaded",
        kind="log_end_loaded",
        loggers=("kafka.log.LogManager",),
        contains="Completed load of Log(dir=",
        regex=r"^Completed load of Log\(dir=.*, topic=(?P<topic>[\w.-]+), partition=(?P<partition>\d+), "
        r"highWatermark=(?P<high_watermark>\d+), .*logEndOffset=(?P<log_offset>\d+)\) with .*$",
        versions="2.6-4.2",
        source="core/src/main/scala/kafka/log/LogManager.scala loadLog",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:52:40,798] INFO Completed load of Log(dir=/var/lib/kafka/data-1/shop-events-0, topic=shop-events, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=3) with 1 segments in 19ms (6/72 loaded in /var/lib/kafka/data-1) (kafka.log.LogManager)",
                topic="shop-events",
                partition="0",
                high_watermark="0",
                log_offset="3",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:01:24,540] INFO Completed load of Log(dir=/var/lib/kafka/data-1/crm-rx-6-x2-1, topicId=WxT0-zaYREK1zflM5_sVdg, topic=crm-rx-6-x2, partition=1, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=3) with 1 segments, local-log-start-offset 0 and log-end-offset 3 in 13ms (2/72 completed in /var/lib/kafka/data-1) (kafka.log.LogManager)",
                topic="crm-rx-6-x2",
                partition="1",
                high_watermark="0",
                log_offset="3",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:50:48,262] INFO Completed load of Log(dir=/var/lib/kafka/data-1/mobile-sub-3-t-2, topicId=XsC2xnOSSqa8upSpqzzLSg, topic=mobile-sub-3-t, partition=2, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=3) with 1 segments, local-log-start-offset 0 and log-end-offset 3 in 21ms (3/72 completed in /var/lib/kafka/data-1) (kafka.log.LogManager)",
                topic="mobile-sub-3-t",
                partition="2",
                high_watermark="0",
                log_offset="3",
            ),
        ),
        counter_samples=(_A_CREATED_LOG,),
    ),
    Pattern(
        pattern_id="log.truncated",
        kind="log_truncated",
        loggers=_LOG_LOGGERS,
        contains="Truncating to offset ",
        regex=_LOG + r"Truncating to offset (?P<log_offset>\d+)$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala truncateTo",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:54:46,678] INFO [Log partition=ads-risky-18-0, dir=/var/lib/kafka/data-1] Truncating to offset 28 (kafka.log.Log)",
                topic="ads-risky-18",
                partition="0",
                log_offset="28",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:03:28,609] INFO [UnifiedLog partition=crm-risky-18-0, dir=/var/lib/kafka/data-1] Truncating to offset 28 (kafka.log.UnifiedLog)",
                topic="crm-risky-18",
                partition="0",
                log_offset="28",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:53:02,499] INFO [UnifiedLog partition=fraud-risky-19-0, dir=/var/lib/kafka/data-1] Truncating to offset 28 (org.apache.kafka.storage.internals.log.UnifiedLog)",
                topic="fraud-risky-19",
                partition="0",
                log_offset="28",
            ),
        ),
        counter_samples=(_A_VAIN_CUT, _A_VAIN_CUT_2_8),
    ),
    Pattern(
        pattern_id="log.high_watermark_lowered",
        kind="log_truncated",
        loggers=_LOG_LOGGERS,
        contains="Non-monotonic update of high watermark from ",
        regex=_LOG
        + r"(?P<detail>Non-monotonic update of high watermark) from \(offset=(?P<high_watermark>\d+)[ ,][^()]*\) "
        r"to \(offset=(?P<log_offset>\d+)[ ,][^()]*\)$",
        versions="2.4-4.2",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala updateHighWatermarkMetadata",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:53:02,502] WARN [UnifiedLog partition=fraud-risky-19-0, dir=/var/lib/kafka/data-1] Non-monotonic update of high watermark from (offset=68, segment=[0:1962]) to (offset=28, segment=[0:821]) (org.apache.kafka.storage.internals.log.UnifiedLog)",
                topic="fraud-risky-19",
                partition="0",
                detail="Non-monotonic update of high watermark",
                high_watermark="68",
                log_offset="28",
            ),
        ),
        counter_samples=(_A_VAIN_CUT,),
    ),
    Pattern(
        pattern_id="fetcher.truncated_committed",
        kind="log_truncated",
        loggers=_FETCHER_LOGGERS,
        contains=" below high watermark ",
        regex=_CUTTER
        + rf"Truncating {TOPIC_PARTITION} to offset (?P<log_offset>\d+) (?P<detail>below high watermark) (?P<high_watermark>\d+)$",
        versions="2.0-4.1",
        source="core/src/main/scala/kafka/server/ReplicaFetcherThread.scala truncate",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,548] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating orders-3 to offset 881500 below high watermark 881990 (kafka.server.ReplicaFetcherThread)",
                topic="orders",
                partition="3",
                log_offset="881500",
                detail="below high watermark",
                high_watermark="881990",
            ),
        ),
        counter_samples=(_A_FETCHER_CUT,),
    ),
    Pattern(
        pattern_id="fetcher.reset_to_leader",
        kind="log_truncated",
        loggers=_FETCHER_LOGGERS,
        contains="Reset fetch offset for partition ",
        regex=_CUTTER
        + rf"Reset fetch offset for partition {TOPIC_PARTITION} (?P<detail>from \d+ to current leader's latest offset) (?P<log_offset>\d+)$",
        versions="2.1-4.2",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,685] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition orders-3 from 881990 to current leader's latest offset 881500 (kafka.server.ReplicaFetcherThread)",
                topic="orders",
                partition="3",
                detail="from 881990 to current leader's latest offset",
                log_offset="881500",
            ),
        ),
        counter_samples=(_AN_OLDER_EPOCH,),
    ),
    Pattern(
        pattern_id="fetcher.reset_to_start",
        kind="log_truncated",
        loggers=_FETCHER_LOGGERS,
        contains=" leader's start offset ",
        regex=_CUTTER + rf"(?:Truncate fully and reset|Reset) fetch offset for partition {TOPIC_PARTITION} "
        r"(?P<detail>from \d+ to (?:the )?current leader's start offset) (?P<log_offset>\d+)(?: because .*)?$",
        versions="2.1-4.2",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
        samples=(
            made(
                "2.8",
                "[2025-03-12 10:00:03,685] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition orders-3 from 881990 to current leader's start offset 900000 (kafka.server.ReplicaFetcherThread)",
                topic="orders",
                partition="3",
                detail="from 881990 to current leader's start offset",
                log_offset="900000",
            ),
            made(
                "3.9",
                "[2025-03-12 10:00:03,685] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncate fully and reset fetch offset for partition orders-3 from 881990 to the current leader's start offset 900000 because the local replica's end offset is smaller than the current leader's start offsets. (kafka.server.ReplicaFetcherThread)",
                topic="orders",
                partition="3",
                detail="from 881990 to the current leader's start offset",
                log_offset="900000",
            ),
        ),
        counter_samples=(_AN_OLDER_EPOCH,),
    ),
    Pattern(
        pattern_id="fetcher.fetch_failed",
        kind="fetch_failed",
        loggers=_FETCHER_LOGGERS,
        contains="Error in response for fetch request ",
        regex=_FETCHER + r"Error in response for fetch request \(.*$",
        versions="1.1-4.2",
        source=f"{_FETCHER_SOURCE} processFetchRequest",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:54:09,216] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=852174103, epoch=5), rackId=) (kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 2 was disconnected before the response was read\n\tat org.apache.kafka.clients.NetworkClientUtils.sendAndReceive(NetworkClientUtils.java:100)\n\tat kafka.server.ReplicaFetcherBlockingSend.sendRequest(ReplicaFetcherBlockingSend.scala:110)\n\tat kafka.server.ReplicaFetcherThread.fetchFromLeader(ReplicaFetcherThread.scala:217)\n\tat kafka.server.AbstractFetcherThread.processFetchRequest(AbstractFetcherThread.scala:325)\n\tat kafka.server.AbstractFetcherThread.$anonfun$maybeFetch$3(AbstractFetcherThread.scala:141)\n\tat kafka.server.AbstractFetcherThread.$anonfun$maybeFetch$3$adapted(AbstractFetcherThread.scala:140)\n\tat scala.Option.foreach(Option.scala:437)\n\tat kafka.server.AbstractFetcherThread.maybeFetch(AbstractFetcherThread.scala:140)\n\tat kafka.server.AbstractFetcherThread.doWork(AbstractFetcherThread.scala:123)\n\tat kafka.utils.ShutdownableThread.run(ShutdownableThread.scala:96)",
                node="2",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:02:51,800] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=1081587506, epoch=5), rackId=) (kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 2 was disconnected before the response was read\n\tat org.apache.kafka.clients.NetworkClientUtils.sendAndReceive(NetworkClientUtils.java:111)\n\tat kafka.server.BrokerBlockingSender.sendRequest(BrokerBlockingSender.scala:114)\n\tat kafka.server.RemoteLeaderEndPoint.fetch(RemoteLeaderEndPoint.scala:79)\n\tat kafka.server.AbstractFetcherThread.processFetchRequest(AbstractFetcherThread.scala:321)\n\tat kafka.server.AbstractFetcherThread.$anonfun$maybeFetch$3(AbstractFetcherThread.scala:134)\n\tat kafka.server.AbstractFetcherThread.$anonfun$maybeFetch$3$adapted(AbstractFetcherThread.scala:133)\n\tat scala.Option.foreach(Option.scala:437)\n\tat kafka.server.AbstractFetcherThread.maybeFetch(AbstractFetcherThread.scala:133)\n\tat kafka.server.AbstractFetcherThread.doWork(AbstractFetcherThread.scala:116)\n\tat kafka.server.ReplicaFetcherThread.doWork(ReplicaFetcherThread.scala:98)\n\tat org.apache.kafka.server.util.ShutdownableThread.run(ShutdownableThread.java:136)",
                node="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:52:25,967] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=104189501, epoch=69), rackId=) (kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 2 was disconnected before the response was read\n\tat org.apache.kafka.clients.NetworkClientUtils.sendAndReceive(NetworkClientUtils.java:111) ~[kafka-clients-4.1.2.jar:?]\n\tat kafka.server.BrokerBlockingSender.sendRequest(BrokerBlockingSender.scala:112) ~[kafka_2.13-4.1.2.jar:?]\n\tat kafka.server.RemoteLeaderEndPoint.fetch(RemoteLeaderEndPoint.scala:77) ~[kafka_2.13-4.1.2.jar:?]\n\tat kafka.server.AbstractFetcherThread.processFetchRequest(AbstractFetcherThread.scala:326) ~[kafka_2.13-4.1.2.jar:?]\n\tat kafka.server.AbstractFetcherThread.$anonfun$maybeFetch$3(AbstractFetcherThread.scala:137) ~[kafka_2.13-4.1.2.jar:?]\n\tat java.base/java.util.Optional.ifPresent(Optional.java:178) [?:?]\n\tat kafka.server.AbstractFetcherThread.maybeFetch(AbstractFetcherThread.scala:136) [kafka_2.13-4.1.2.jar:?]\n\tat kafka.server.AbstractFetcherThread.doWork(AbstractFetcherThread.scala:117) [kafka_2.13-4.1.2.jar:?]\n\tat kafka.server.ReplicaFetcherThread.doWork(ReplicaFetcherThread.scala:96) [kafka_2.13-4.1.2.jar:?]\n\tat org.apache.kafka.server.util.ShutdownableThread.run(ShutdownableThread.java:136) [kafka-server-common-4.1.2.jar:?]",
                node="2",
            ),
        ),
        counter_samples=(_AN_OLDER_EPOCH,),
    ),
)
