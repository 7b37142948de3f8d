"""Brokers on ZooKeeper that write one log, as three of them on one machine do: the line of a start names no broker."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from tests.support.nights import WHOLE, at
from tests.support.outages import rebuild_outages
from tests.support.rows import row

LOG = "logs/server.log"


def line(kind: str, clock: str, broker: int | None = 1, **columns: object) -> Event:
    ids = {"line_id": f"{kind}{clock}{broker}", "happened_at": at(clock), "source": LOG}
    return row(EVENTS, kind=kind, broker=broker, **ids | columns)


def changed(clock: str, words: str) -> Event:
    """What the controller, broker 0, says of the brokers that it sees."""
    return line("brokers_changed", clock, broker=0, detail=words)


def rebuilt(*lines: Event, files: tuple[LogFile, ...] = ()) -> list[BrokerOutage]:
    return rebuild_outages([line("broker_started", "02:00:00"), *lines], [], WHOLE, files)


GONE = changed("03:00:10", ", deleted brokers: 1, bounced brokers: , all live brokers: 0,2")
BACK = changed("03:05:00.800", "1, deleted brokers: , bounced brokers: , all live brokers: 0,1,2")
STARTS = (line("leader_started", "03:00:00"), line("broker_starting", "03:04:56", broker=None))


def test_broker_started_just_after_its_registration_is_a_new_process() -> None:
    [crash] = rebuilt(*STARTS, GONE, BACK, line("broker_started", "03:05:01.300"))
    assert (crash.kind, crash.confidence, crash.up_at) == ("crash", "certain", at("03:05:00.800"))
    [alive] = rebuilt(*STARTS, GONE, BACK, line("leader_started", "03:05:01.300"))
    assert (alive.kind, alive.up_at) == ("unresponsive", at("03:05:00.800"))


def test_start_after_a_later_shutdown_does_not_change_the_first_outage() -> None:
    again = [line("broker_shutdown_started", "03:05:10"), line("broker_started", "03:05:40")]
    first, second = rebuilt(*STARTS, GONE, BACK, *again)
    assert (first.kind, second.kind) == ("unresponsive", "controlled_shutdown")


@pytest.mark.parametrize("logs_begin", ["01:00:00", "03:30:00"])
def test_start_without_controller_lines_is_an_outage(logs_begin: str) -> None:
    """The broker was the controller itself, was killed, and elects itself when it starts."""
    served, first = line("leader_started", "03:00:00"), line("leader_started", "03:45:58.900")
    files: list[LogFile] = [
        row(LOG_FILES, origin="broker", source=LOG, first_at=at(since), last_at=at(until))
        for since, until in (("01:00:00", "03:01:00"), (logs_begin, "08:00:00"))
    ]
    works = line("broker_started", "03:46:00", pattern_id="zookeeper.broker_started")
    [gone] = rebuilt(served, STARTS[1], first, works, changed("03:46:30", GONE.detail or ""), files=tuple(files))[:1]
    assert gone.up_at == works.happened_at and gone.away_low_ms == 0 and gone.away_high_ms == 2_760_000
    is_whole = logs_begin == "01:00:00"
    assert (gone.kind, gone.confidence) == (("crash", "certain") if is_whole else ("unknown", "unknown"))


def failed(clock: str) -> Event:
    return line("broker_start_failed", clock, pattern_id="process.start_failed", detail="KafkaServer")


def test_failed_start_shows_that_the_former_process_had_ended() -> None:
    [crash] = rebuilt(STARTS[0], GONE, failed("03:02:00"), failed("03:03:00"), BACK)
    assert (crash.kind, crash.failed_starts) == ("crash", 2)


def test_start_minutes_after_a_failed_one_ends_the_outage() -> None:
    works = line("broker_started", "03:04:00", pattern_id="zookeeper.broker_started")
    [crash] = rebuilt(STARTS[0], GONE, failed("03:02:00"), works)
    assert crash.up_at == works.happened_at


@pytest.mark.parametrize("starts", [True, False])
def test_first_list_of_new_controller_gives_no_start_of_an_outage(starts: bool) -> None:
    """All brokers were killed at some time; hours later broker 0 is the first one to start, and finds itself alone."""
    listing = line("brokers_listed", "06:00:00", broker=0, nodes="0")
    first = line("broker_started", "06:00:01" if starts else "02:00:00", broker=0)
    back = changed("06:00:30", "1, deleted brokers: , bounced brokers: , all live brokers: 0,1")
    files: list[LogFile] = [
        row(LOG_FILES, origin="broker", source=LOG, first_at=at(since), last_at=at(until))
        for since, until in (("01:00:00", "03:10:00"), ("05:59:00", "08:00:00"))
    ]
    served = line("leader_started", "03:00:00")
    absences = rebuilt(first, served, listing, back, line("broker_started", "06:00:31"), files=tuple(files))
    [gone] = [a for a in absences if a.broker == 1]
    assert gone.kind == "crash" and gone.away_high_ms == 10_830_000
    assert (gone.down_at, gone.confidence) == (at("03:00:00") if starts else at("05:59:42"), "possible")


def stops(clock: str, broker: int, ended: str) -> list[Event]:
    """The lines of a shutdown, as 2.8 wrote them."""
    began = [line(kind, clock, broker) for kind in ("broker_shutdown_started", "controlled_shutdown_started")]
    return [*began, line("broker_stopped", ended, broker)]


@pytest.mark.parametrize("last", ["03:00:00.548", "02:59:50.548"])
def test_each_shutdown_quotes_its_own_signal(last: str) -> None:
    """As 2.8 wrote it when two brokers on one machine were stopped: each logs its signal, and no line names a broker.

    Where both lines have one instant they are one record.
    """
    signals = [line("process_signalled", clock, broker=None) for clock in (last, "03:00:00.549")]
    ends = [*stops("03:00:00.550", 1, "03:00:04"), *stops("03:00:00.550", 0, "03:00:20")]
    served = line("leader_started", "02:50:00", broker=0)
    zero, one = rebuilt(served, *signals, *ends)
    quoted = [{q.line_id for q in outage.evidence} & {s.line_id for s in signals} for outage in (one, zero)]
    newer, older = {signals[1].line_id}, {signals[0].line_id}
    assert quoted == ([older, newer] if last == "03:00:00.548" else [newer, newer])


def test_shutdown_seconds_after_the_signal_of_another_broker_does_not_quote_it() -> None:
    signal = line("process_signalled", "03:00:00.549", broker=None)
    ends = [*stops("03:00:00.550", 1, "03:00:04"), *stops("03:00:03", 0, "03:00:20")]
    zero, one = rebuilt(line("leader_started", "02:50:00", broker=0), signal, *ends)
    assert [signal.line_id in {q.line_id for q in outage.evidence} for outage in (one, zero)] == [True, False]


def started(clock: str, broker: int) -> list[Event]:
    """What a process of 0.10 writes first: its settings, then a line that names no broker."""
    settings = line("broker_configured", f"{clock}.635", broker=None, node=broker)
    return [settings, line("broker_starting", f"{clock}.663", broker=None)]


def fails_early(clock: str, error: str) -> list[Event]:
    """What a process writes that fails before it knows its id."""
    fatal = line("broker_start_failed", clock, broker=None, text="Fatal error during KafkaServer startup.", error=error)
    return [fatal, line("broker_shutdown_started", clock, None), line("broker_stopped", clock, None)]


MISSES = "java.lang.NoClassDefFoundError: javax/xml/bind/DatatypeConverter"


def test_start_belongs_to_the_broker_of_the_settings_before_it() -> None:
    """As 0.10 wrote it on a Java that lacks a class, beside another broker: none of its lines names broker 2."""
    served = [line("broker_started", "02:00:00", broker) for broker in (1, 2)]
    ends = [*stops("03:00:00", 2, "03:00:04"), *stops("03:00:01", 1, "03:00:05")]
    works = [line("broker_started", "03:20:00", broker) for broker in (2, 1)]
    outages = rebuilt(*served, *ends, *started("03:10:00", 2), *fails_early("03:10:00.798", MISSES), *works)
    assert {o.broker: (o.failed_starts, o.start_failure) for o in outages} == {1: (0, None), 2: (1, "exception")}
    nameless = [line("broker_configured", "03:10:00.635", broker=None)]
    late = [*nameless, *started("03:10:00", 2)[1:], *fails_early("03:10:00.798", MISSES)]
    assert {o.failed_starts for o in rebuilt(*served, *ends, *late, *works)} == {0}


def test_settings_after_a_start_do_not_name_the_next_start() -> None:
    """As brokers from 1.1 on write them, two of which are started at once."""
    served = [line("broker_started", "02:00:00", broker) for broker in (1, 2)]
    ends = [*stops("03:00:00", 2, "03:00:04"), *stops("03:00:01", 1, "03:00:05")]
    first, second = (line("broker_starting", f"03:10:0{n}", broker=None) for n in (0, 1))
    behind = line("broker_configured", "03:10:00.900", broker=None, node=1)
    works = [line("broker_started", "03:10:30", broker) for broker in (2, 1)]
    outages = rebuilt(*served, *ends, first, behind, second, *fails_early("03:10:02", MISSES), *works)
    assert {o.broker: o.failed_starts for o in outages} == {1: 0, 2: 0}


def test_early_failed_start_beside_a_silent_broker_shows_no_crash() -> None:
    served = line("leader_started", "03:00:00", broker=1)
    [outage] = rebuilt(served, *started("03:10:00", 1), *fails_early("03:10:00.798", MISSES))
    assert (outage.kind, outage.failed_starts, outage.start_failure) == ("unknown", 1, "exception")
    recovers = line("logs_unclean", "03:10:00.700", broker=1, text="Recovering 3 logs from /data")
    [crash] = rebuilt(served, *started("03:10:00", 1), recovers, *fails_early("03:10:00.798", MISSES))
    assert (crash.kind, crash.confidence) == ("crash", "certain")


def test_controller_elected_before_its_registration_has_no_outage() -> None:
    """As 0.10 and 1.0 start: the controller lists the brokers, and then its broker registers."""
    starts = [line("zookeeper_client_spoke", "01:59:59", broker=0), line("brokers_listed", "01:59:59.500", 0, nodes="")]
    assert rebuilt(*starts) == []
