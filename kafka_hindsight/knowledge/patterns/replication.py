"""In-sync replicas, logs and fetchers, by the brokers' server logs."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import TOPIC_PARTITION

_PARTITION_LOGGERS = ("kafka.cluster.Partition",)
_LOG_LOGGERS = ("kafka.log.Log", "kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog")
_FETCHER_LOGGERS = ("kafka.server.ReplicaFetcherThread",)
_PARTITION = rf"^\[Partition {TOPIC_PARTITION} broker=\d+\] "
_LOG = rf"^\[(?:Unified)?Log partition={TOPIC_PARTITION}, dir=[^\]]*\] "
_SEGMENT = r"segment=\[\d+:\d+\]"
_FETCHER = r"^\[ReplicaFetcher replicaId=\d+, leaderId=(?P<node>\d+), fetcherId=\d+\] "
_CUTTER = r"^\[ReplicaFetcher replicaId=\d+, leaderId=\d+, fetcherId=\d+\] "
_SOURCE = "core/src/main/scala/kafka/cluster/Partition.scala"
_FETCHER_SOURCE = "core/src/main/scala/kafka/server/AbstractFetcherThread.scala"


PATTERNS = (
    Pattern(
        pattern_id="partition.isr_shrink_proposed",
        kind=Kind.ISR_SHRINK_PROPOSED,
        loggers=_PARTITION_LOGGERS,
        contains="Shrinking ISR from ",
        regex=_PARTITION
        + r"Shrinking ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)(?:\. Leader: \(highWatermark: (?P<high_watermark>\d+), "
        r"endOffset: (?P<log_offset>\d+)\)\. Out of sync replicas: (?P<detail>.*)\.)?$",
        versions="1.0-4.2",
        source=f"{_SOURCE} maybeShrinkIsr",
    ),
    Pattern(
        pattern_id="partition.isr_expand_proposed",
        kind=Kind.ISR_EXPAND_PROPOSED,
        loggers=_PARTITION_LOGGERS,
        contains="Expanding ISR from ",
        regex=_PARTITION + r"Expanding ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)$",
        versions="1.0-2.7",
        source=f"{_SOURCE} maybeExpandIsr",
    ),
    Pattern(
        pattern_id="partition.isr_updated",
        kind=Kind.ISR_UPDATED,
        loggers=_PARTITION_LOGGERS,
        contains="ISR updated ",
        regex=_PARTITION
        + r"ISR updated (?:from AlterIsr )?to \[?(?P<isr>[\d,]*)\]? (?:\(under-min-isr\))? ?and (?:zkV|v)ersion updated to \[?(?P<partition_epoch>\d+)\]?$",
        versions="2.4-4.2",
        source=f"{_SOURCE} handleAlterPartitionUpdate",
    ),
    Pattern(
        pattern_id="partition.isr_update_rejected",
        kind=Kind.ISR_UPDATE_REJECTED,
        loggers=_PARTITION_LOGGERS,
        contains="ailed to ",
        regex=_PARTITION
        + r"(?:Controller f|F)ailed to (?:alter partition|update ISR) to .+ (?:since the controller rejected the request with|due to unexpected) "
        r"(?P<error>\w+)\. .*$",
        versions="2.7-4.2",
        source=f"{_SOURCE} handleAlterPartitionError",
    ),
    Pattern(
        pattern_id="partition.isr_update_skipped",
        kind=Kind.ISR_UPDATE_REJECTED,
        loggers=_PARTITION_LOGGERS,
        contains=" not equal to that in zookeeper, skip updating ISR",
        regex=_PARTITION + r"Cached zkVersion \[?\d+\]? (?P<error>not equal to that in zookeeper), skip updating ISR$",
        versions="1.0-2.7",
        source=f"{_SOURCE} updateIsr",
    ),
    Pattern(
        pattern_id="partition.log_loaded",
        kind=Kind.LOG_LOADED,
        loggers=_PARTITION_LOGGERS,
        contains="Log loaded for partition ",
        regex=_PARTITION + r"Log loaded for partition \S+ with initial high watermark (?P<high_watermark>\d+)$",
        versions="2.5-4.2",
        source=f"{_SOURCE} createLog",
    ),
    Pattern(
        pattern_id="log.end_loaded",
        kind=Kind.LOG_END_LOADED,
        loggers=("kafka.log.LogManager",),
        contains="Completed load of Log(dir=",
        regex=r"^Completed load of Log\(dir=(?>.*?, topic=)(?P<topic>[\w.-]+), partition=(?P<partition>\d+), "
        r"highWatermark=(?P<high_watermark>\d+), (?>.*?\blogEndOffset=)(?P<log_offset>\d+)\) with .*$",
        versions="2.6-4.2",
        source="core/src/main/scala/kafka/log/LogManager.scala loadLog",
    ),
    Pattern(
        pattern_id="log.truncated",
        kind=Kind.LOG_TRUNCATED,
        loggers=_LOG_LOGGERS,
        contains="Truncating to offset ",
        regex=_LOG + r"Truncating to offset (?P<log_offset>\d+)$",
        versions="1.0-4.2",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala truncateTo",
    ),
    # A cut sets the high watermark to the new end of the log, which stands in a segment. One that only follows its leader's
    # has none ([-1:-1]): a new leader begins below its predecessor until followers fetch, and no record is dropped.
    Pattern(
        pattern_id="log.high_watermark_lowered",
        kind=Kind.LOG_TRUNCATED,
        loggers=_LOG_LOGGERS,
        contains="Non-monotonic update of high watermark from ",
        regex=_LOG
        + r"(?P<detail>Non-monotonic update of high watermark) from \(offset=(?P<high_watermark>\d+),[^()]*\) "
        rf"to \(offset=(?P<log_offset>\d+), {_SEGMENT}\)$",
        versions="3.5-4.2",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala truncateTo, updateHighWatermark, maybeUpdateHighWatermark; ReplicaFetcherThread.scala processPartitionData",
    ),
    # KAFKA-14704: from 2.7 to 3.4.0 a follower raised its high watermark to its own log end before it cut what never was
    # committed. So the one that such a line names proves nothing.
    Pattern(
        pattern_id="log.high_watermark_moved_back",
        kind=Kind.LOG_TRUNCATED,
        loggers=_LOG_LOGGERS,
        contains="Non-monotonic update of high watermark from ",
        regex=_LOG + r"(?P<detail>Non-monotonic update of high watermark) from \(offset=\d+ [^()]*\) "
        rf"to \(offset=(?P<log_offset>\d+) {_SEGMENT}\)$",
        versions="2.4-3.4",
        source="core/src/main/scala/kafka/log/Log.scala updateHighWatermarkMetadata; LogOffsetMetadata.scala toString",
    ),
    Pattern(
        pattern_id="fetcher.truncated_committed",
        kind=Kind.LOG_TRUNCATED,
        loggers=(*_FETCHER_LOGGERS, *_LOG_LOGGERS),
        contains=" below high watermark ",
        regex=r"^\[[^\]]*\] "
        + rf"Truncating {TOPIC_PARTITION} to offset (?P<log_offset>\d+) (?P<detail>below high watermark) (?P<high_watermark>\d+)$",
        versions="2.0-4.3",
        source="core/src/main/scala/kafka/server/ReplicaFetcherThread.scala truncate; from 4.2 UnifiedLog.java truncateTo",
    ),
    Pattern(
        pattern_id="fetcher.reset_to_leader",
        kind=Kind.LOG_TRUNCATED,
        loggers=_FETCHER_LOGGERS,
        contains="Reset fetch offset for partition ",
        regex=_CUTTER
        + rf"Reset fetch offset for partition {TOPIC_PARTITION} (?P<detail>from \d+ to current leader's latest offset) (?P<log_offset>\d+)$",
        versions="2.1-4.2",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
    ),
    Pattern(
        pattern_id="fetcher.reset_to_start",
        kind=Kind.LOG_TRUNCATED,
        loggers=_FETCHER_LOGGERS,
        contains=" leader's start offset ",
        regex=_CUTTER + rf"(?:Truncate fully and reset|Reset) fetch offset for partition {TOPIC_PARTITION} "
        r"(?P<detail>from \d+ to (?:the )?current leader's start offset) (?P<log_offset>\d+)(?: because .*)?$",
        versions="2.1-4.2",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
    ),
    Pattern(
        pattern_id="fetcher.fetch_failed",
        kind=Kind.FETCH_FAILED,
        loggers=_FETCHER_LOGGERS,
        contains="Error in ",
        regex=_FETCHER + r"Error in (?:response for fetch request \(|fetch to broker \d+, request ).*$",
        versions="1.0-4.2",
        source=f"{_FETCHER_SOURCE} processFetchRequest",
    ),
)
