"""The logs of real producers that wrote through a fault: what failed, how often, and what they had to give up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.codes import ProducerFailureKind as Why
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, ProducerFailure
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.producers.logs_of_producers import APART, LogOfProducers, read_log
from kafka_hindsight.settings.home import HOME
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

EXCERPTS = HOME / "tests" / "excerpts" / "producers"


def lines_of(excerpt: str, client: str) -> list[Event]:
    return [e for e in read_logs(EXCERPTS / excerpt, "client", "c")[0] if e.source == f"{client}.log"]


def log_of(excerpt: str, client: str) -> LogOfProducers:
    return read_log("c", f"{client}.log", lines_of(excerpt, client))


def summed(failures: Sequence[ProducerFailure]) -> list[tuple[Why, int, int, int | None]]:
    return [(f.kind, f.retries, f.given_up_low, f.given_up_high) for f in failures]


@pytest.mark.parametrize(
    ("excerpt", "client", "failures"),
    [
        # acks=all with too few replicas in sync: it waits, and each line that it waits is one retry.
        ("refused-2.8", "export-7b326", [(Why.NO_ANSWER, 6, 0, 0), (Why.NOT_ENOUGH_REPLICAS, 17, 0, 0)]),
        ("refused-2.8", "quotes-etl-40ff7", [(Why.NO_ANSWER, 1, 0, 0), (Why.NOT_ENOUGH_REPLICAS, 22, 0, 0)]),
        # librdkafka logs no answer that it does not like, and nothing that it gives up.
        ("refused-2.8", "mirror-of-mobile-12-41112", [(Why.NO_ANSWER, 0, 0, None)]),
        ("unanswered-4.4", "audit-loader-5877a", [(Why.NO_ANSWER, 5, 0, 0)]),
        ("unanswered-4.4", "core-9cbf4", [(Why.NO_ANSWER, 1, 0, 0)]),
        ("fenced-2.8", "view-5c3d6", [(Why.FENCED, 0, 0, None)]),
        ("fenced-2.8", "geo-export-c97ed", []),
    ],
)
def test_failures_of_a_real_log(excerpt: str, client: str, failures: list[tuple[Why, int, int, int | None]]) -> None:
    log = log_of(excerpt, client)
    assert summed(log.failures) == failures
    assert {f.client_id for f in log.failures} <= {client}


@pytest.mark.parametrize(("client", "lines"), [("geo-sync-6b1f1", 6), ("feed-of-email-30-88eff", 4)])
def test_what_is_given_up_without_retries_is_a_lower_bound(client: str, lines: int) -> None:
    """Both logs show eight. Equal lines of one instant are one event."""
    failures = log_of("without-retries-2.8", client).failures
    assert sum(f.given_up_low for f in failures) == lines
    assert {f.given_up_high for f in failures} == {None}
    assert {f.client_id for f in failures} == {client}


def test_settings_of_a_real_producer() -> None:
    (setting,) = log_of("refused-2.8", "export-7b326").settings
    shown = (setting.acks, setting.is_idempotent, setting.retries, setting.delivery_timeout_ms, setting.max_in_flight)
    assert shown == ("all", True, 2**31 - 1, 60_000, 5)
    assert (setting.transactional_id, setting.topics) == (None, ["mobile-77-worker-t"])
    (fenced,) = log_of("fenced-2.8", "view-5c3d6").settings
    assert fenced.transactional_id == "tickets.91-writer"


def test_idempotence_needs_the_line_that_shows_it() -> None:
    """Kafka 3.0.0 and 3.1.0 print enable.idempotence = true for a producer that is not idempotent (KAFKA-13598)."""
    lines = lines_of("refused-2.8", "export-7b326")
    without = [e for e in lines if e.kind != Kind.PRODUCER_IDEMPOTENT]
    printed = [replace(e, detail=(e.detail or "").replace("acks = -1", "acks = 1")) for e in without]
    (unsure,) = read_log("c", "log", printed).settings
    assert (unsure.acks, unsure.is_idempotent) == (None, None)
    (until_2_3,) = read_log("c", "log", [*printed, *(e for e in lines if e.kind == Kind.PRODUCER_IDEMPOTENT)]).settings
    assert (until_2_3.acks, until_2_3.is_idempotent) == ("all", True)


def test_none_is_given_up_only_where_the_log_shows_it() -> None:
    lines = lines_of("refused-2.8", "export-7b326")

    def high(events: list[Event]) -> int | None:
        return read_log("c", "log", events).failures[-1].given_up_high

    assert high(lines) == 0
    assert high([e for e in lines if e.kind != Kind.PRODUCER_CLOSED]) is None, "it may have gone on"
    assert high([e for e in lines if e.kind != Kind.PRODUCER_CONFIGURED]) is None, "its timeouts are not known"
    impatient = [replace(e, detail=(e.detail or "").replace("= 60000", "= 20000")) for e in lines]
    assert high(impatient) is None, "a batch may have been as old as delivery.timeout.ms"
    at_end = [replace(e, event_count=0) if e.kind == Kind.PRODUCER_RETRIED else e for e in lines]
    assert high(at_end) is None, "a batch may have had no attempt left"
    forced = row(EVENTS, kind="producer_forced", client_id="export-7b326", happened_at=lines[-1].happened_at)
    assert {f.given_up_high for f in read_log("c", "log", [*lines, forced]).failures} == {None}


def test_a_batch_may_have_met_failures_of_two_kinds_before_it_is_too_old() -> None:
    lines = lines_of("refused-2.8", "export-7b326")
    retried = [e for e in lines if e.kind == Kind.PRODUCER_RETRIED]
    assert [f.given_up_high for f in read_log("c", "log", lines).failures] == [0, 0]
    earlier = [
        replace(e, line_id=f"{e.line_id} {n}", happened_at=e.happened_at - n * APART)
        for e in retried[:1]
        for n in (1, 2)
    ]
    log = read_log(
        "c", "log", [replace(e, happened_at=e.happened_at - 3 * APART) for e in lines[:2]] + earlier + lines[2:]
    )
    assert [(f.kind, f.given_up_high) for f in log.failures] == [(Why.NO_ANSWER, None), (Why.NOT_ENOUGH_REPLICAS, None)]


def failing(kind: Kind, ms: int, **columns: object) -> Event:
    at = AT + timedelta(milliseconds=ms)
    shown = {"topic": "orders", "partition": 3, "error": "NOT_LEADER_OR_FOLLOWER", "client_id": "a", **columns}
    return row(EVENTS, line_id=f"{kind}-{ms}", kind=kind, source="a.log", happened_at=at, **shown)


def test_a_batch_that_asks_for_the_leader_and_is_not_sent_again_is_given_up() -> None:
    """Source: Sender.completeBatch logs first that a batch is sent again, then that it asks for the leader."""
    first = failing(Kind.PRODUCER_RETRIED, 0)
    pairs = [first, failing(Kind.PRODUCER_REDIRECTED, 1), failing(Kind.PRODUCER_REDIRECTED, 500)]
    (row_,) = read_log("c", "a.log", pairs).failures
    assert (row_.retries, row_.given_up_low, row_.given_up_high) == (1, 1, None)
    (cut,) = read_log("c", "a.log", pairs[1:2]).failures
    assert cut.given_up_low == 0, "the log begins with it, and the line before it may be missing"


def test_failures_that_lie_far_apart_are_several() -> None:
    apart = int(APART / timedelta(milliseconds=1))
    for gap, count in ((apart, 1), (apart + 1, 2)):
        failures = read_log(
            "c", "a.log", [failing(Kind.PRODUCER_RETRIED, 0), failing(Kind.PRODUCER_RETRIED, gap)]
        ).failures
        assert len(failures) == count


def test_what_a_producer_leaves_in_its_queue_is_given_up() -> None:
    left = failing(Kind.PRODUCER_FORCED, 0, error=None, topic=None, partition=None, event_count=3)
    (row_,) = read_log("c", "a.log", [left]).failures
    assert (row_.kind, row_.given_up_low) == (Why.CLOSED, 3)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("NOT_LEADER_OR_FOLLOWER", Why.LEADER_MOVED),
        ("org.apache.kafka.common.errors.NotLeaderOrFollowerException", Why.LEADER_MOVED),
        ("NotLeaderForPartitionError", Why.LEADER_MOVED),
        ("org.apache.kafka.common.errors.NetworkException", Why.NO_ANSWER),
        ("_FENCED", Why.FENCED),
        ("INVALID_PRODUCER_EPOCH", Why.FENCED),
        ("org.apache.kafka.common.errors.OutOfOrderSequenceException", Why.OUT_OF_SEQUENCE),
        ("MESSAGE_TOO_LARGE", Why.OTHER),
    ],
)
def test_each_library_has_its_own_word_for_an_error(error: str, kind: Why) -> None:
    (row_,) = read_log("c", "a.log", [failing(Kind.PRODUCER_GAVE_UP, 0, error=error)]).failures
    assert row_.kind is kind
