"""In-sync replicas, logs and fetchers, by the brokers' server logs."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
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
_line_of_partition = partial(Pattern, loggers=_PARTITION_LOGGERS, head=_PARTITION, versions="1.0-4.4")
_line_of_log = partial(Pattern, loggers=_LOG_LOGGERS, head=_LOG, versions="1.0-4.4")
_line_of_fetcher = partial(Pattern, loggers=_FETCHER_LOGGERS, head=_CUTTER, versions="2.1-4.4")


PATTERNS = (
    _line_of_partition(
        pattern_id="partition.isr_shrink_proposed",
        kind=Kind.ISR_SHRINK_PROPOSED,
        regex=r"Shrinking ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)(?:\. Leader: \(highWatermark: (?P<high_watermark>\d+), "
        r"endOffset: (?P<log_offset>\d+)\)\. Out of sync replicas: (?P<detail>.*)\.)?$",
        source=f"{_SOURCE} maybeShrinkIsr",
    ),
    _line_of_partition(
        pattern_id="partition.isr_expand_proposed",
        kind=Kind.ISR_EXPAND_PROPOSED,
        regex=r"Expanding ISR from (?P<previous_isr>[\d,]*) to (?P<isr>[\d,]*)$",
        versions="1.0-2.7",
        source=f"{_SOURCE} maybeExpandIsr",
    ),
    _line_of_partition(
        pattern_id="partition.isr_updated",
        kind=Kind.ISR_UPDATED,
        regex=r"ISR updated (?:from AlterIsr )?to \[?(?P<isr>[\d,]*)\]? (?:\(under-min-isr\))? ?and (?:zkV|v)ersion updated to \[?(?P<partition_epoch>\d+)\]?$",
        versions="2.4-4.4",
        source=f"{_SOURCE} handleAlterPartitionUpdate",
    ),
    _line_of_partition(
        pattern_id="partition.isr_update_rejected",
        kind=Kind.ISR_UPDATE_REJECTED,
        regex=r"(?:Controller f|F)ailed to (?:alter partition|update ISR) to .+ (?:since the controller rejected the request with|due to unexpected) "
        r"(?P<error>\w+)\. .*$",
        versions="2.7-4.4",
        source=f"{_SOURCE} handleAlterPartitionError",
    ),
    _line_of_partition(
        pattern_id="partition.isr_update_skipped",
        kind=Kind.ISR_UPDATE_REJECTED,
        regex=r"Cached zkVersion \[?\d+\]? (?P<error>not equal to that in zookeeper), skip updating ISR$",
        versions="1.0-2.7",
        source=f"{_SOURCE} updateIsr",
    ),
    _line_of_partition(
        pattern_id="partition.log_loaded",
        kind=Kind.LOG_LOADED,
        regex=r"Log loaded for partition \S+ with initial high watermark (?P<high_watermark>\d+)$",
        versions="2.5-4.4",
        source=f"{_SOURCE} createLog",
    ),
    Pattern(
        pattern_id="log.end_loaded",
        kind=Kind.LOG_END_LOADED,
        loggers=("kafka.log.LogManager",),
        regex=r"^Completed load of Log\(dir=(?>.*?, topic=)(?P<topic>[\w.-]+), partition=(?P<partition>\d+), "
        r"highWatermark=(?P<high_watermark>\d+), (?>.*?\blogEndOffset=)(?P<log_offset>\d+)\) with .*$",
        versions="2.6-4.4",
        source="core/src/main/scala/kafka/log/LogManager.scala loadLog",
    ),
    _line_of_log(
        pattern_id="log.truncated",
        kind=Kind.LOG_TRUNCATED,
        regex=r"Truncating to offset (?P<log_offset>\d+)$",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala truncateTo",
    ),
    _line_of_log(
        pattern_id="log.start_moved",
        kind=Kind.LOG_START_MOVED,
        regex=r"Increment(?:ed|ing) log start offset to (?P<log_offset>\d+)(?: due to (?P<reason>.+))?$",
        versions="1.1-4.4",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala maybeIncrementLogStartOffset; 2.6 and later name the reason",
    ),
    # A cut sets the high watermark to the new end of the log, which stands in a segment. One that only follows its leader's
    # has none ([-1:-1]): a new leader begins below its predecessor until followers fetch, and no record is dropped.
    _line_of_log(
        pattern_id="log.high_watermark_lowered",
        kind=Kind.LOG_TRUNCATED,
        regex=r"(?P<detail>Non-monotonic update of high watermark) from \(offset=(?P<high_watermark>\d+),[^()]*\) "
        rf"to \(offset=(?P<log_offset>\d+), {_SEGMENT}\)$",
        versions="3.5-4.4",
        source="core/src/main/scala/kafka/log/UnifiedLog.scala truncateTo, updateHighWatermark, maybeUpdateHighWatermark; ReplicaFetcherThread.scala processPartitionData",
    ),
    # KAFKA-14704: from 2.7 to 3.4.0 a follower raised its high watermark to its own log end before it cut what never was
    # committed. So the one that such a line names proves nothing.
    _line_of_log(
        pattern_id="log.high_watermark_moved_back",
        kind=Kind.LOG_TRUNCATED,
        regex=r"(?P<detail>Non-monotonic update of high watermark) from \(offset=\d+ [^()]*\) "
        rf"to \(offset=(?P<log_offset>\d+) {_SEGMENT}\)$",
        versions="2.4-3.4",
        source="core/src/main/scala/kafka/log/Log.scala updateHighWatermarkMetadata; LogOffsetMetadata.scala toString",
    ),
    Pattern(
        pattern_id="fetcher.truncated_committed",
        kind=Kind.LOG_TRUNCATED,
        loggers=(*_FETCHER_LOGGERS, *_LOG_LOGGERS),
        regex=r"^\[[^\]]*\] "
        + rf"Truncating {TOPIC_PARTITION} to offset (?P<log_offset>\d+) (?P<detail>below high watermark) (?P<high_watermark>\d+)$",
        versions="2.0-4.4",
        source="core/src/main/scala/kafka/server/ReplicaFetcherThread.scala truncate; from 4.2 UnifiedLog.java truncateTo",
    ),
    _line_of_fetcher(
        pattern_id="fetcher.reset_to_leader",
        kind=Kind.LOG_TRUNCATED,
        regex=rf"Reset fetch offset for partition {TOPIC_PARTITION} (?P<detail>from \d+ to current leader's latest offset) (?P<log_offset>\d+)$",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
    ),
    _line_of_fetcher(
        pattern_id="fetcher.reset_to_start",
        kind=Kind.LOG_TRUNCATED,
        regex=rf"(?:Truncate fully and reset|Reset) fetch offset for partition {TOPIC_PARTITION} "
        r"(?P<detail>from \d+ to (?:the )?current leader's start offset) (?P<log_offset>\d+)(?: because .*)?$",
        source=f"{_FETCHER_SOURCE} fetchOffsetAndTruncate",
    ),
    _line_of_fetcher(
        pattern_id="fetcher.fetch_failed",
        kind=Kind.FETCH_FAILED,
        head=_FETCHER,
        regex=r"Error in (?:response for fetch request \(|fetch to broker \d+, request ).*$",
        versions="1.0-4.4",
        source=f"{_FETCHER_SOURCE} processFetchRequest",
    ),
)
