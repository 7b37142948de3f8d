# ruff: noqa: E501
"""What a few lines of Kafka's statements show of brokers and controllers, and what they do not show."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.judged_lines import Tables, judged_lines


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-04-02T{clock}+00:00")


def absences(tables: Tables) -> list[tuple[Any, ...]]:
    return [(o.broker, o.kind, o.confidence, o.down_at, o.up_at) for o in tables["gold.broker_outages"]]


def line(clock: str, text: str, level: str = "INFO") -> str:
    return f"[2026-04-02 {clock}] {level} {text}\n"


def of_server(clock: str, text: str, broker: int | None = 6) -> str:
    return line(clock, f"{'' if broker is None else f'[KafkaServer id={broker}] '}{text} (kafka.server.KafkaServer)")


def disk_fails(clock: str) -> str:
    return line(clock, "Shutdown broker because all log dirs in /d have failed (kafka.log.LogManager)", "ERROR")


SERVED = of_server("01:00:00,000", "started")
STARTS = of_server("01:33:00,000", "starting", None)
BACK = of_server("01:33:05,000", "started")


class TestSharedLog:
    """Brokers 6 and 7 wrote one log, one after the other."""

    def test_halt_is_of_the_only_process_that_has_not_ended(self, tmp_path: Path) -> None:
        before = of_server("00:10:00,000", "started", 7) + of_server("00:20:00,000", "shut down completed", 7)
        tables = judged_lines(tmp_path, {"server.log": before + SERVED + disk_fails("01:30:00,008") + BACK})
        assert absences(tables)[0] == (6, "crash", "certain", at("01:30:00.008"), at("01:33:05"))

    def test_halt_beside_another_process_that_runs_is_of_neither(self, tmp_path: Path) -> None:
        before = of_server("00:10:00,000", "started", 7)
        tables = judged_lines(tmp_path, {"server.log": before + SERVED + disk_fails("01:30:00,008")})
        assert absences(tables) == []

    def test_halt_after_a_start_without_a_name_may_be_of_that_start(self, tmp_path: Path) -> None:
        before = of_server("00:10:00,000", "started", 7) + of_server("00:20:00,000", "shut down completed", 7)
        starts = of_server("01:29:00,000", "starting", None)
        works = of_server("01:31:00,000", "started", 7)
        tables = judged_lines(tmp_path, {"server.log": before + SERVED + starts + disk_fails("01:30:00,008") + works})
        assert [row[:2] for row in absences(tables)] == [(7, "controlled_shutdown")]

    def test_each_halt_of_a_broker_that_halts_again_as_it_starts_is_a_failed_start(self, tmp_path: Path) -> None:
        before = of_server("00:10:00,000", "started", 7) + of_server("00:20:00,000", "shut down completed", 7)
        again = STARTS.replace("01:33", "01:31") + disk_fails("01:31:04,000")
        tables = judged_lines(
            tmp_path, {"server.log": before + SERVED + disk_fails("01:30:00,008") + again + STARTS + BACK}
        )
        own = next(o for o in tables["gold.broker_outages"] if o.broker == 6)
        assert (own.kind, own.failed_starts, own.up_at) == ("crash", 1, at("01:33:05"))


ENDS = of_server("01:30:00,000", "shutting down")
HANDED_OVER = of_server("01:30:00,400", "Controlled shutdown succeeded")
COMPLETED = of_server("01:30:02,000", "shut down completed")


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        # KafkaServer.shutdown says last that it completed: the log goes on with the next start, and lacks that.
        (ENDS, ("crash", "likely")),
        (ENDS + HANDED_OVER, ("controlled_shutdown", "likely")),
        (ENDS + HANDED_OVER + COMPLETED, ("controlled_shutdown", "certain")),
        (ENDS + COMPLETED, ("controlled_shutdown", "certain")),
    ],
    ids=["cut-off", "leaders-moved", "completed", "without-controller"],
)
def test_shutdown_without_its_end_in_a_whole_log_was_cut_off(
    tmp_path: Path, ends: str, verdict: tuple[str, str]
) -> None:
    (absence,) = absences(judged_lines(tmp_path, {"server.log": SERVED + ends + STARTS + BACK}))
    assert absence[1:] == (*verdict, at("01:30:00"), at("01:33:05"))


def test_end_of_a_shutdown_may_be_in_a_file_that_is_missing(tmp_path: Path) -> None:
    files = {"server.log.1": SERVED + ENDS, "server.log": STARTS + BACK}
    assert [row[1] for row in absences(judged_lines(tmp_path, files))] == ["crash"]
    apart = {"broker-6/server.log": SERVED + ENDS, "broker-6b/server.log": STARTS + BACK}
    assert [row[1] for row in absences(judged_lines(tmp_path / "apart", apart))] == ["controlled_shutdown"]


REGISTERED = line(
    "04:00:00,220",
    "Registered broker 6 at path /brokers/ids/6 with addresses: PLAINTEXT://h:9092, czxid (broker epoch): 45 (kafka.zk.KafkaZkClient)",
)


def expired(clock: str = "04:00:00,100", client: str = "Kafka server") -> str:
    return line(clock, f"[ZooKeeperClient {client}] Session expired. (kafka.zookeeper.ZooKeeperClient)")


class TestSession:
    """A broker whose ZooKeeper session expires is not in the cluster, until it registers again."""

    def test_session_that_expired_is_an_absence_of_the_same_process(self, tmp_path: Path) -> None:
        tables = judged_lines(tmp_path, {"server.log": SERVED + expired() + REGISTERED})
        assert absences(tables) == [(6, "unresponsive", "likely", at("01:00:00"), at("04:00:00.220"))]
        (outage,) = tables["gold.broker_outages"]
        assert (outage.away_low_ms, outage.away_high_ms) == (120, 10_800_220)

    def test_registration_as_a_broker_starts_is_no_absence(self, tmp_path: Path) -> None:
        starts = STARTS + REGISTERED.replace("04:00:00", "01:33:04") + BACK
        tables = judged_lines(tmp_path, {"server.log": SERVED + ENDS + COMPLETED + starts})
        assert [row[1] for row in absences(tables)] == ["controlled_shutdown"]

    def test_start_after_an_expired_session_is_a_crash(self, tmp_path: Path) -> None:
        starts = (STARTS + REGISTERED.replace("04:00:00", "01:33:04") + BACK).replace("01:33", "04:33")
        tables = judged_lines(tmp_path, {"server.log": SERVED + expired() + starts})
        assert [row[1] for row in absences(tables)] == ["crash"]

    @pytest.mark.parametrize(
        ("before", "words"),
        [
            ("", ", and the logs do not show whether it came back"),
            (REGISTERED.replace("04:00:00", "00:59:59"), " and was not back when the logs end"),
        ],
    )
    def test_broker_that_went_on_is_away_only_where_a_registration_would_be_logged(
        self, tmp_path: Path, before: str, words: str
    ) -> None:
        goes_on = expired("04:30:00,000", client="ACL authorizer")
        log = before + SERVED + expired("01:01:10,000") + goes_on
        tables = judged_lines(tmp_path, {"server.log": log})
        assert absences(tables) == [(6, "unresponsive", "likely", at("01:00:00"), None)]
        (incident,) = tables["gold.incidents"]
        assert incident.headline == f"Broker 6 probably stopped responding after 01:00:00{words}"
        assert incident.is_over is (False if before else None)

    def test_session_of_the_authorizer_is_not_that_of_the_broker(self, tmp_path: Path) -> None:
        tables = judged_lines(tmp_path, {"server.log": SERVED + expired(client="ACL authorizer") + REGISTERED})
        assert absences(tables) == []


def thread(clock: str) -> str:
    return line(
        clock,
        "[ControllerEventThread controllerId=6] Starting (kafka.controller.ControllerEventManager$ControllerEventThread)",
    )


def elected(clock: str, epoch: int, broker: int = 6) -> str:
    return line(
        clock,
        f"[Controller id={broker}] {broker} successfully elected as the controller. Epoch incremented to {epoch} and epoch"
        f" zk version is now {epoch} (kafka.controller.KafkaController)",
    )


def test_thread_of_a_new_process_shows_that_the_one_before_had_ended(tmp_path: Path) -> None:
    files = {"controller.log": elected("00:59:59,000", 4) + thread("02:00:28,630") + elected("02:00:28,638", 5)}
    tables = judged_lines(tmp_path, {**files, "server.log": SERVED})
    assert absences(tables) == [(6, "crash", "likely", at("01:00:00"), at("02:00:28.638"))]


def test_thread_that_starts_with_its_broker_shows_nothing_more(tmp_path: Path) -> None:
    starts = STARTS + BACK
    whole = {"server.log": SERVED + ENDS + COMPLETED + starts, "controller.log": thread("01:33:04,000")}
    assert [row[1] for row in absences(judged_lines(tmp_path, whole))] == ["controlled_shutdown"]
    first = {"server.log": starts, "controller.log": thread("01:33:04,000")}
    assert absences(judged_lines(tmp_path / "first", first)) == []


KRAFT = line(
    "01:00:00,000",
    "[BrokerLifecycleManager id=6] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. (kafka.server.BrokerLifecycleManager)",
)
SIGNAL = line(
    "01:32:50,000", "Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)"
)


def of_kraft(text: str) -> str:
    return text.replace("[KafkaServer", "[BrokerServer").replace(
        "kafka.server.KafkaServer", "kafka.server.BrokerServer"
    )


@pytest.mark.parametrize(
    ("between", "failed_starts"),
    [(SIGNAL, 1), ("", 0), (SIGNAL.replace("01:32:50,000", "01:30:00,001"), 0)],
    ids=["a-later-process", "none", "the-process-that-ended"],
)
def test_signal_after_a_process_had_ended_stopped_one_that_did_not_serve(
    tmp_path: Path, between: str, failed_starts: int
) -> None:
    ends = of_kraft(ENDS) + (between if not failed_starts else "") + of_kraft(COMPLETED)
    log = KRAFT + ends + (between if failed_starts else "") + KRAFT.replace("01:00:00", "01:40:00")
    (outage,) = judged_lines(tmp_path, {"server.log": log})["gold.broker_outages"]
    assert (outage.kind, outage.failed_starts) == ("controlled_shutdown", failed_starts)
    assert (outage.start_failure == "stopped") == bool(failed_starts)


RESIGNED = line("03:00:00,010", "[Controller id=6] Resigned (kafka.controller.KafkaController)")


@pytest.mark.parametrize(("more", "cause"), [("", "resigned"), (expired("03:00:00,005"), "session_expired")])
def test_controller_of_zookeeper_that_is_back_had_no_quorum_to_lose(tmp_path: Path, more: str, cause: str) -> None:
    other = of_server("00:10:00,000", "started", 7) + of_server("00:20:00,000", "shut down completed", 7)
    files = {
        "b7/server.log": other,
        "b6/server.log": SERVED + more,
        "b6/controller.log": elected("00:05:00,000", 1) + RESIGNED + elected("03:00:00,050", 2),
    }
    tables = judged_lines(tmp_path, files)
    assert [(c.epoch, c.cause) for c in tables["gold.controller_changes"]] == [(1, "first"), (2, cause)]
    assert "quorum_lost" not in {i.kind for i in tables["gold.incidents"]}


def named(clock: str, cluster_id: str) -> str:
    return of_server(clock, f"Cluster ID = {cluster_id * 22}", None)


@pytest.mark.parametrize(("ids", "changes"), [("ABA", 0), ("ABC", 2), ("AAB", 1), ("ABBA", 0), ("ABAC", 1)])
def test_cluster_id_that_comes_back_shows_no_lost_data(tmp_path: Path, ids: str, changes: int) -> None:
    log = "".join(named(f"0{n}:10:00,000", cluster_id) for n, cluster_id in enumerate(ids, 1))
    findings = judged_lines(tmp_path, {"server.log": SERVED + log})["gold.findings"]
    found = [f for f in findings if f.rule_id == "cluster_id_changed"]
    assert sum(f.message.count(" to ") for f in found) == changes


FAILS = line(
    "01:31:10,000", "Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)", "ERROR"
)


@pytest.mark.parametrize("original", ["broker-6/server.log", None])
def test_log_that_was_copied_into_another_brokers_folder_is_of_its_broker(tmp_path: Path, original: str | None) -> None:
    """Byte-equal lines were written once; a log that names two brokers is of neither folder."""
    log = SERVED + ENDS + COMPLETED + STARTS.replace("01:33", "01:31") + FAILS + BACK
    files = {"broker-7/server.log": log + of_server("05:00:00,000", "started", 7)}
    tables = judged_lines(tmp_path, files | ({original: log} if original else {}))
    assert [(o.broker, o.kind, o.failed_starts) for o in tables["gold.broker_outages"]] == [
        (6, "controlled_shutdown", 1)
    ]


@pytest.mark.parametrize(("hours", "count"), [(3, 0), (0, 1)])
def test_outage_without_a_known_end_explains_nothing_hours_later(tmp_path: Path, hours: int, count: int) -> None:
    def fails(clock: str) -> str:
        member = "c-11111111-2222-4333-8444-555555555555"
        return line(
            clock,
            "[GroupCoordinator 6]: Preparing to rebalance group g in state PreparingRebalance with old generation 1"
            f" (__consumer_offsets-1) (reason: error when storing group assignment during SyncGroup (member: {member}))"
            " (kafka.coordinator.group.GroupCoordinator)",
        )

    ends = line("01:30:00,000", "[Controller id=6] Shutting down broker 8 (kafka.controller.KafkaController)")
    gone = line(
        "01:30:01,000",
        "[Controller id=6] Newly added brokers: , deleted brokers: 8, bounced brokers: , all live brokers: 6"
        " (kafka.controller.KafkaController)",
    )
    files = {
        "server.log": fails(f"0{1 + hours}:30:20,000"),
        "controller.log": elected("00:59:00,000", 1) + ends + gone,
    }
    tables = judged_lines(tmp_path, files)
    linked = [i for i in tables["gold.incidents"] if i.first_outage_id and i.rebalance_count]
    assert len(linked) == count


def test_group_without_a_consumer_ends_with_the_metadata_of_the_cluster(tmp_path: Path) -> None:
    def empties(clock: str) -> str:
        of_group = "[GroupCoordinator 6]: Group pay with generation 4 is now empty (__consumer_offsets-7)"
        return line(clock, f"{of_group} (kafka.coordinator.group.GroupCoordinator)")

    def ends(*epochs: str) -> list[Any]:
        files = {"server.log": SERVED + empties("01:10:00,000"), "controller.log": "".join(epochs)}
        rows = judged_lines(tmp_path / str(len(epochs)), files)["gold.unavailability"]
        return [row.ended_at for row in rows if row.kind == "no_consumer"]

    later = elected("05:00:00,000", 1), elected("06:00:00,000", 2)
    assert ends(elected("00:59:00,000", 9), *later) == [at("05:00:00")]
    assert ends(*later) == [None]


def test_group_stopped_no_longer_than_the_log_of_its_coordinator_shows(tmp_path: Path) -> None:
    """Another broker writes for hours more, and the log in which the group's return would be has ended."""
    empties = "[GroupCoordinator 6]: Group pay with generation 4 is now empty (__consumer_offsets-7) (kafka.coordinator.group.GroupCoordinator)"
    files = {
        "b6/server.log": SERVED + line("01:10:00,000", empties) + of_server("01:12:00,000", "started"),
        "b7/server.log": of_server("01:00:00,000", "started", 7) + of_server("09:00:00,000", "shutting down", 7),
    }
    rows = [u for u in judged_lines(tmp_path, files)["gold.unavailability"] if u.kind == "no_consumer"]
    assert [(row.ended_at, row.low_ms) for row in rows] == [(None, 120_000)]


def registers(clock: str, broker: int) -> str:
    place = f"at path /brokers/ids/{broker} with addresses: PLAINTEXT://h{broker}:9092, czxid (broker epoch): 27"
    return line(clock, f"Registered broker {broker} {place} (kafka.zk.KafkaZkClient)")


@pytest.mark.parametrize("served", [False, True])
def test_broker_that_starts_as_the_first_controller_lists_the_brokers_was_not_away(
    tmp_path: Path, served: bool
) -> None:
    """The brokers of a new cluster start at once: the second one registers just after the list was read."""
    of_6 = elected("01:00:01,400", 1) + line(
        "01:00:01,500",
        "[Controller id=6] Currently active brokers in the cluster: Set(6) (kafka.controller.KafkaController)",
    )
    came = line(
        "01:00:01,900",
        "[Controller id=6] Newly added brokers: 7, deleted brokers: , bounced brokers: , all live brokers: 6,7"
        " (kafka.controller.KafkaController)",
    )
    before = of_server("00:30:00,000", "started", 7) if served else ""
    starts = of_server("01:00:00,100", "starting", None) + registers("01:00:01,450", 7)
    files = {
        "b6/server.log": SERVED.replace("01:00:00,000", "01:00:02,000"),
        "b6/controller.log": of_6 + came,
        "b7/server.log": before + starts + of_server("01:00:02,100", "started", 7),
    }
    assert [row[:2] for row in absences(judged_lines(tmp_path, files))] == ([(7, "crash")] if served else [])


ABORTED = line("01:30:02,001", "Exiting Kafka. (kafka.server.KafkaServerStartable)", "FATAL")


@pytest.mark.parametrize(
    ("last", "kind", "failed_starts"),
    [
        (ABORTED, "failed_start", 1),
        ("", "controlled_shutdown", 0),
        # Minutes later it is another process that fails.
        (ABORTED.replace("01:30:02", "01:32:02"), "controlled_shutdown", 1),
    ],
    ids=["just-before", "none", "minutes-before"],
)
def test_shutdown_just_before_kafka_exits_is_of_a_failed_start(
    tmp_path: Path, last: str, kind: str, failed_starts: int
) -> None:
    tables = judged_lines(tmp_path, {"server.log": SERVED + ENDS + COMPLETED + last + STARTS + BACK})
    assert [(o.kind, o.failed_starts) for o in tables["gold.broker_outages"]] == [(kind, failed_starts)]


REFUSED = line(
    "01:29:59,900",
    "[ReplicaFetcher replicaId=6, leaderId=7, fetcherId=0] Exiting because log truncation is not allowed for partition"
    " pay-1, current leader's latest offset 5 is less than replica's latest offset 9 (kafka.server.ReplicaFetcherThread)",
    "FATAL",
)


@pytest.mark.parametrize(
    ("reason", "verdict"), [(REFUSED, ("crash", "likely")), ("", ("controlled_shutdown", "certain"))]
)
def test_broker_that_may_not_cut_its_log_ends_itself(tmp_path: Path, reason: str, verdict: tuple[str, str]) -> None:
    (absence,) = absences(judged_lines(tmp_path, {"server.log": SERVED + reason + ENDS + COMPLETED + STARTS + BACK}))
    assert absence[1:3] == verdict


@pytest.mark.parametrize(("ended", "cause"), [(True, "session_expired"), (False, "outage")])
def test_controller_that_was_at_work_did_not_become_active_as_it_started(
    tmp_path: Path, ended: bool, cause: str
) -> None:
    """Its shutdown was asked for hours before, and no line shows its return: its session shows that it had one."""
    ends = "".join(
        line(f"00:03:1{n},000", f"[Controller id=6] Shutting down broker {n} (kafka.controller.KafkaController)")
        for n in (6, 7)
    )
    listing = line(
        "04:00:00,400",
        "[Controller id=7] Currently active brokers in the cluster: Set(7) (kafka.controller.KafkaController)",
    )
    files = {
        "controller.log": elected("00:01:00,000", 3) + ends + elected("04:00:00,300", 5, broker=7) + listing,
        "server.log": (expired() if ended else "") + registers("04:00:00,220", 7),
    }
    tables = judged_lines(tmp_path, files)
    assert [(c.epoch, c.cause) for c in tables["gold.controller_changes"]] == [(3, "unknown"), (5, cause)]


def test_registration_names_the_broker_that_writes_it(tmp_path: Path) -> None:
    """Of two brokers that write one log, the one whose session expired is the one that registers."""
    log = of_server("00:10:00,000", "started", 7) + of_server("00:20:00,000", "shut down completed", 7)
    tables = judged_lines(tmp_path, {"server.log": log + SERVED + expired() + REGISTERED})
    assert [row[:2] for row in absences(tables)] == [(6, "unresponsive"), (7, "controlled_shutdown")]
