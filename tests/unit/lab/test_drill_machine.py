"""What a drill needs of its machine, and what it leaves out where that is not there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from lab.drill import hosts, machine, processes
from lab.drill.metadata_log import elected_uncleanly
from lab.drill.run import choose, played_here
from lab.drill.truth_file import TruthFile
from tests.support.nights import EXCERPTS

DUMPED = EXCERPTS / "metadata_records.txt"


def test_scenarios_without_hosts_or_faketime_are_left_out_and_named(monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(machine, "_FAKETIME", None)
    asked = choose("host_slow,clock_ahead,start_loop", "4.3.1", "combined")
    assert [s.name for s in played_here(asked)] == ["start_loop"]
    output = capsys.readouterr().err
    assert "Scenarios with clocks that differ are left out. Found: no libfaketime." in output
    assert "Scenarios with members on hosts of their own are left out. Found: ip did not answer" in output
    with pytest.raises(BadInput, match="no libfaketime"):
        played_here(choose("clock_ahead", "4.3.1", "combined"))


def test_process_with_clock_ahead_keeps_monotonic_clock(monkeypatch) -> None:
    monkeypatch.setattr(machine, "_FAKETIME", Path("/lib/libfaketime.so.1"))
    variables = machine.clock_ahead(7)
    assert (variables["LD_PRELOAD"], variables["FAKETIME"]) == ("/lib/libfaketime.so.1", "+7")
    assert (variables["FAKETIME_DONT_FAKE_MONOTONIC"], variables["FAKETIME_FORCE_MONOTONIC_FIX"]) == ("1", "0")
    assert machine.clock_ahead(0) == {}


def test_relay_joins_inherited_socket_to_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as behind, socket.create_server(("127.0.0.1", 0)) as before:
        command = [sys.executable, "-m", "lab.drill.relay", str(before.fileno()), str(behind.getsockname()[1])]
        relay = processes.start(command, pass_fds=[before.fileno()], cwd=HOME, stdin=subprocess.DEVNULL)
        try:
            with socket.create_connection(before.getsockname()[:2]) as one:
                other, _ = behind.accept()
                for number in range(3):
                    one.sendall(b"call %d\n" % number)
                    assert other.recv(100) == b"call %d\n" % number
                    other.sendall(b"answer")
                    assert one.recv(100) == b"answer"
                other.close()
                assert one.recv(100) == b"", "the end of one side is the end of the other"
        finally:
            processes.kill(relay)


@pytest.mark.skipif(hosts.why_none() is not None, reason=str(hosts.why_none()))
def test_disconnected_host_reaches_nothing_until_joined() -> None:
    with hosts.hosts() as made, socket.create_server((made.address, 0)) as server:
        place = (made.address, server.getsockname()[1])

        def is_reached(host: str, tries: int = 20) -> bool:
            """Just after a cable is plugged in, the last question who has the address may still end without answer."""
            connect = f"import socket; socket.create_connection({place!r}, 2)"
            command = [*made.within(host), sys.executable, "-c", connect]
            return any(not subprocess.run(command, capture_output=True).returncode for _ in range(tries))

        assert is_reached("one") and is_reached("other")
        made.cut("one")
        assert not is_reached("one", tries=1) and is_reached("other")
        made.join("one")
        assert is_reached("one")
        made.slow("one", "64kbit")
        assert is_reached("one")
        made.hasten("one")
        assert made.address_of("one") != made.address_of("other")
    left = subprocess.run(["ip", "netns"], capture_output=True, text=True).stdout
    assert f"hs{os.getpid()}-" not in left


def test_concurrent_requests_create_host_once(monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(hosts, "_run", lambda *command: asked.append(" ".join(command)))
    made = hosts.Hosts("hs", "10.9.9")
    threads = [threading.Thread(target=made.within, args=("h",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked.count("ip netns add hs-h") == 1
    assert made.address_of("h") == "10.9.9.2"


def test_expectations_without_logs_become_undecided(tmp_path: Path) -> None:
    truth = TruthFile(tmp_path / "truth.jsonl")
    truth.write("broker_kill9", broker=1, expect="failover_crash")
    truth.write("logs_rotated", keeps=True)
    truth.write("broker_kill9", broker=2, expect="failover_crash")
    truth.write("broker_start", broker=2)
    truth.leave_open_since("logs_rotated", "no log of it is left")
    expected = [(row.get("expect"), row.get("undecided")) for row in truth.rows()]
    assert expected == [("failover_crash", None), (None, None), (None, "failover_crash"), (None, None)]


def test_metadata_log_shows_unclean_elections() -> None:
    """Captured: partitions whose only replica was killed and came back, one moved later; others changed in order."""
    lines = DUMPED.read_text().splitlines()
    elections = list(elected_uncleanly(lines))
    assert [(e["topic"], e["partition"], e["leader"]) for e in elections] == [("lone", 0, 2), ("lone", 1, 3)]
    assert elections[0]["at"] == "2026-11-21T15:14:43.867+00:00"
    still_eligible = [line for line in lines if '"eligibleLeaderReplicas":[]}' not in line]
    assert len(still_eligible) < len(lines)
    assert list(elected_uncleanly(still_eligible)) == [], "a replica of the ELR has every record"
