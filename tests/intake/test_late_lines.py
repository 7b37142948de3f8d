"""Lines that come hours late change the window that they belong to: from a command, and in a folder that grows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.late_lines import LOG, LateNight
from tests.support.logs import lay

RUNTIME = 'cat "$0" | awk -v since="$1" \'$1 >= substr(since, 1, 19)\''
"""As `kubectl logs --timestamps --since-time={since}`: the lines from an instant on, whose runtime stamped each."""


def test_late_lines_of_a_command_change_their_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = tmp_path / "printed"

    def deliver(lines: list[str]) -> None:
        old = printed.read_text().splitlines() if printed.exists() else []
        new = [f"{line[1:11]}T{line[12:20]}.{line[21:24]}Z {line}" for line in lines]
        printed.write_text("".join(f"{line}\n" for line in sorted([*old, *new], key=lambda line: line[:24])))

    command = ["sh", "-c", RUNTIME, str(printed), "{since}"]
    lay(tmp_path, {"late.toml": f'kind = "command"\ncommands = {{"{LOG}" = {json.dumps(command)}}}'})
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(tmp_path))
    LateNight(tmp_path).play(tmp_path, "source://late", deliver)


def test_late_lines_of_a_growing_folder_change_their_window(tmp_path: Path) -> None:
    """A shipper delivers the late part as a file of its own, and the newest file grows."""
    night, log = LateNight(tmp_path), tmp_path / "logs" / LOG
    log.parent.mkdir(parents=True)

    def deliver(lines: list[str]) -> None:
        late = [line for line in lines if line in night.late]
        if late:
            lay(log.parent, {"server.log.2026-11-21-01": "".join(f"{line}\n" for line in late)})
        with log.open("a") as newest:
            newest.writelines(f"{line}\n" for line in lines if line not in late)
        os.utime(log, (0, 0))

    night.play(tmp_path, tmp_path / "logs", deliver)
