"""A recorded night in the local time of a zone whose change lies in its middle: the truth is moved and kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from lab.drill.local_time import moved, rewrite

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


def test_every_time_is_moved_and_zoneless_times_become_local() -> None:
    texts = {
        "[2026-10-24 22:30:00,123] INFO a (b.C)": "[2026-10-25 01:30:00,123] INFO a (b.C)",
        "[2026-10-25 00:30:00,123] INFO a (b.C)": "[2026-10-25 02:30:00,123] INFO a (b.C)",
        "kafka reader: 2026/10/24 23:30:00 go": "kafka reader: 2026/10/25 02:30:00 go",
        '"at": "2026-10-24T23:30:00.000+00:00"': '"at": "2026-10-25T00:30:00.000+00:00"',
        "%7|1761348600.123|INIT": "%7|1761352200.123|INIT",
        "Kafka startTimeMs: 1761348600123 (a.B)": "Kafka startTimeMs: 1761352200123 (a.B)",
    }
    assert {text: moved(text, HOUR, BERLIN) for text in texts} == texts


def test_time_change_lies_in_middle_of_night(tmp_path: Path) -> None:
    night, new = tmp_path / "night", tmp_path / "new"
    (night / "logs" / "broker-1").mkdir(parents=True)
    at = datetime(2026, 11, 21, 1, tzinfo=UTC)
    acts = [{"at": (at + n * HOUR).isoformat(timespec="milliseconds"), "action": "x"} for n in (0, 1, 2)]
    (night / "truth.jsonl").write_text("".join(f"{json.dumps(act)}\n" for act in acts))
    (night / "logs" / "broker-1" / "server.log").write_text(
        "".join(f"[{at + n * HOUR:%F %T},000]\n" for n in (0, 1, 2))
    )
    rewrite(night, new, BERLIN, datetime(2026, 10, 25, 1, tzinfo=UTC))
    read = [json.loads(line)["at"][:16] for line in (new / "truth.jsonl").read_text().splitlines()]
    assert read == ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"]
    local = [line[12:20] for line in (new / "logs" / "broker-1" / "server.log").read_text().splitlines()]
    assert local == ["02:00:00", "02:00:00", "03:00:00"]
