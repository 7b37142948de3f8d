"""Where a Java consumer reads on: committed offsets, resets, seeks, cut logs, refused commits, by its own log (0.10-4.4).

From 2.3 on they are lines of INFO; what a version before it says there at DEBUG has the same words in most cases.
"""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD, COORDINATOR_LOGGERS, TOPIC_PARTITION

_INTERNALS = "org.apache.kafka.clients.consumer.internals"
_COMMIT_LOGGERS = (f"{_INTERNALS}.CommitRequestManager",)
_CONSUMER_LOGGERS = (
    "org.apache.kafka.clients.consumer.KafkaConsumer",
    *(f"{_INTERNALS}.{name}" for name in ("LegacyKafkaConsumer", "ClassicKafkaConsumer", "AsyncKafkaConsumer")),
)
_FETCH_LOGGERS = tuple(f"{_INTERNALS}.{name}" for name in ("FetchCollector", "AbstractFetch", "Fetcher"))
_POSITION_LOGGERS = (f"{_INTERNALS}.SubscriptionState",)
_PACKAGE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals"
_COORDINATOR_SOURCE = f"{_PACKAGE}/ConsumerCoordinator.java"
_POSITION_SOURCE = f"{_PACKAGE}/SubscriptionState.java"

_REST = r", offsetEpoch=Optional(?:\.empty|\[\d+\]), currentLeader=LeaderAndEpoch\{[^}]*\}\}"
_POSITION = rf"(?:FetchPosition\{{offset=)?(?P<log_offset>\d+)(?:{_REST})?"
"""A position as a consumer prints it; before 2.3, and of resets until 2.6, the bare offset."""

_RESUMED = (
    rf"Setting offset for partition {TOPIC_PARTITION} to the committed offset (?:FetchPosition\{{offset=)?(?P<log_offset>\d+)"
    r"(?:, offsetEpoch=Optional(?:\.empty|\[(?P<leader_epoch>\d+)\]), currentLeader=LeaderAndEpoch\{[^}]*\}\})?$"
)
_OUT_OF_RANGE = (
    rf"Fetch (?:position|offset) {_POSITION} is out of range for partition {TOPIC_PARTITION}, "
    r"(?:resetting offset|raising error to the application since (?P<reason>no reset policy is configured))$"
)
_DIVERGED = rf"Truncation detected for partition {TOPIC_PARTITION} at offset {_POSITION}"
_COMMITTED = {r"=OffsetAndMetadata\{offset=(\d+)(?:, leaderEpoch=\w+)?, metadata='[^']*'\}": r"=\1"}
"""An offset that was to be committed, and how `detail` shows it."""

_line = partial(Pattern, loggers=COORDINATOR_LOGGERS, head=CONSUMER_HEAD, versions="2.3-4.4")
_line_of_positions = partial(Pattern, loggers=_POSITION_LOGGERS, head=CONSUMER_HEAD, versions="2.3-4.4")


PATTERNS = (
    _line(
        pattern_id="client.position_resumed",
        kind=Kind.CLIENT_POSITION_RESUMED,
        regex=_RESUMED,
        versions="1.1-2.2 at DEBUG, 2.3-3.6 at INFO",
        source=f"{_COORDINATOR_SOURCE} refreshCommittedOffsetsIfNeeded",
    ),
    Pattern(
        pattern_id="client.position_resumed_unnamed",
        kind=Kind.CLIENT_POSITION_RESUMED,
        loggers=(f"{_INTERNALS}.ConsumerUtils",),
        regex=f"^{_RESUMED}",
        versions="3.7-4.4",
        source=f"{_PACKAGE}/ConsumerUtils.java refreshCommittedOffsets",
    ),
    _line(
        pattern_id="client.offset_missing",
        kind=Kind.CLIENT_OFFSET_MISSING,
        loggers=(*COORDINATOR_LOGGERS, *_COMMIT_LOGGERS),
        regex=rf"Found no committed offset for partition {TOPIC_PARTITION}$",
        versions="1.0-2.2 at DEBUG, 2.3-4.4 at INFO",
        source=f"{_COORDINATOR_SOURCE} OffsetFetchResponseHandler; {_PACKAGE}/CommitRequestManager.java OffsetFetchRequestState",
    ),
    _line(
        pattern_id="client.commits_unstable",
        kind=Kind.CLIENT_COMMITS_UNSTABLE,
        loggers=(*COORDINATOR_LOGGERS, *_COMMIT_LOGGERS),
        regex=r"The following partitions still have unstable offsets which are not cleared on the broker side: "
        r"\[(?P<members>[^\]]*)\], this could be either transactional offsets waiting for completion, or .*$",
        versions="2.5-4.4",
        source=f"{_COORDINATOR_SOURCE} OffsetFetchResponseHandler; {_PACKAGE}/CommitRequestManager.java OffsetFetchRequestState",
    ),
    Pattern(
        pattern_id="client.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        loggers=_FETCH_LOGGERS,
        head=CONSUMER_HEAD,
        regex=_OUT_OF_RANGE,
        versions="1.0-4.4",
        source=f"{_PACKAGE}/FetchCollector.java handleInitializeErrors; 3.5-3.6 AbstractFetch.java, until 3.4 Fetcher.java",
    ),
    Pattern(
        pattern_id="client.out_of_range_unnamed",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        loggers=_FETCH_LOGGERS,
        regex=f"^{_OUT_OF_RANGE}",
        versions="0.10.1-0.11",
        source=f"{_PACKAGE}/Fetcher.java parseCompletedFetch",
    ),
    _line_of_positions(
        pattern_id="client.position_reset",
        kind=Kind.CLIENT_POSITION_RESET,
        loggers=(*_POSITION_LOGGERS, *_FETCH_LOGGERS),
        regex=rf"Resetting offset for partition {TOPIC_PARTITION} to (?:position|offset) {_POSITION}\.$",
        versions="1.1-4.4",
        source=f"{_POSITION_SOURCE} maybeSeekUnvalidated; until 2.2 Fetcher.java resetOffsetIfNeeded",
    ),
    _line_of_positions(
        pattern_id="client.log_diverged",
        kind=Kind.CLIENT_LOG_DIVERGED,
        regex=rf"{_DIVERGED}, resetting offset to the first offset known to diverge FetchPosition\{{offset=(?P<detail>\d+){_REST}$",
        source=f"{_POSITION_SOURCE} maybeCompleteValidation",
    ),
    _line_of_positions(
        pattern_id="client.log_diverged_without_policy",
        kind=Kind.CLIENT_LOG_DIVERGED,
        regex=rf"{_DIVERGED} \(the end offset from the broker is \w+\{{(?:error=\w+, leaderEpoch=-?\d+, endO|o)ffset=(?P<detail>-?\d+)[^{{}}]*\}}\), but no reset policy is set$",
        source=f"{_POSITION_SOURCE} maybeCompleteValidation",
    ),
    _line_of_positions(
        pattern_id="client.log_diverged_somewhere",
        kind=Kind.CLIENT_LOG_DIVERGED,
        regex=rf"{_DIVERGED}, (?:resetting offset|but no reset policy is set)$",
        versions="2.6-4.4",
        source=f"{_POSITION_SOURCE} maybeCompleteValidation: the broker knows no end of that leader epoch",
    ),
    Pattern(
        pattern_id="client.sought",
        kind=Kind.CLIENT_SOUGHT,
        loggers=_CONSUMER_LOGGERS,
        head=CONSUMER_HEAD,
        regex=rf"Seeking to offset (?P<log_offset>\d+) for partition {TOPIC_PARTITION}(?: with epoch (?P<leader_epoch>\d+))?$",
        versions="1.0-2.2 at DEBUG, 2.3-4.4 at INFO",
        source="clients/src/main/java/org/apache/kafka/clients/consumer/KafkaConsumer.java seek",
    ),
    _line_of_positions(
        pattern_id="client.sought_by_policy",
        kind=Kind.CLIENT_SOUGHT,
        regex=rf"Seeking to (?P<state>\w+|AutoOffsetResetStrategy\{{type=\w+\}}) offset of partition {TOPIC_PARTITION}$",
        plain={"state": {r"\w+\{type=(\w+)\}": r"\1", "EARLIEST": "earliest", "LATEST": "latest"}},
        source=f"{_POSITION_SOURCE} requestOffsetReset; OffsetResetStrategy.java, from 4.0 AutoOffsetResetStrategy.java toString",
    ),
    _line(
        pattern_id="client.offsets_not_committed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=(*COORDINATOR_LOGGERS, *_COMMIT_LOGGERS, *_CONSUMER_LOGGERS),
        regex=r"(?:(?:Asynchronous a|Synchronous a|A)uto-commit of offsets|Offset commit with offsets) \{(?P<detail>.*)\} failed"
        r"(?:(?:: |\n)(?P<error>[^\r\n]+).*)?$",
        reads_trace=True,
        plain={"detail": _COMMITTED},
        versions="1.0-4.4",
        source=f"{_COORDINATOR_SOURCE} autoCommitOffsetsAsync, maybeAutoCommitOffsetsSync, DefaultOffsetCommitCallback; "
        f"{_PACKAGE}/CommitRequestManager.java autoCommitCallback; {_PACKAGE}/AsyncKafkaConsumer.java",
    ),
    Pattern(
        pattern_id="client.offsets_not_committed_unnamed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=COORDINATOR_LOGGERS,
        regex=r"^(?:Auto-commit of offsets|Offset commit with offsets) \{(?P<detail>.*)\} failed for group (?P<group_id>.{1,255}?)"
        r"(?:(?:: |\n)(?P<error>[^\r\n]+).*)?$",
        reads_trace=True,
        plain={"detail": _COMMITTED},
        versions="0.10.1-0.11",
        source=f"{_COORDINATOR_SOURCE} autoCommitOffsetsAsync, maybeAutoCommitOffsetsSync, DefaultOffsetCommitCallback",
    ),
)
