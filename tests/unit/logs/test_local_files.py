"""What of a folder is a file that may be read: nothing hangs, nothing leads out, no name ends the run."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from kafka_hindsight.logs.file_bytes import Stored
from kafka_hindsight.logs.found_files import files_at

NAMES = (
    "server.log.2026-11-20T10:00", "a:b.log", "it's.log", 'a"b.log', "*.log", "[a].log", "{a,b}.log", "%41.log",
    "a\\b.log", "a b.log", "a#b?.log", "\u202elog.log", "<img src=x>.log", "-rf.log", "$(id).log", "a\nb.log", "é.log",
    "broker:1/server.log", f"{'n' * 240}.log",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_file_of_any_name_is_listed_and_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"what it says")
    (file,) = files_at(str(tmp_path))
    assert (file.name, file.size, file.why_not) == (name, 12, "")
    assert Stored(file.uri).between(0, 12) == b"what it says"


def test_links_and_special_files_are_named_and_not_read(tmp_path: Path) -> None:
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere"
    logs.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret.log").write_text("not in the folder")
    (logs / "server.log").write_text("one")
    (logs / "passwd.log").symlink_to("/etc/passwd")
    (logs / "etc").symlink_to(elsewhere)
    for name in ("a", "b"):
        (logs / name).symlink_to(".")
    (logs / "gone.log").symlink_to("nowhere")
    (logs / "zero.log").symlink_to("/dev/zero")
    os.mkfifo(logs / "fifo.log")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(logs / "s.log"))
        reasons = {f.name: f.why_not.partition(":")[0] for f in files_at(str(logs))}
    links = dict.fromkeys(("passwd.log", "etc", "a", "b", "gone.log", "zero.log"), "a link")
    assert reasons == {"server.log": "", "fifo.log": "not a regular file", "s.log": "not a regular file", **links}


def test_file_name_that_is_not_utf_8_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.log")).write_text("one")
    (file,) = files_at(str(tmp_path))
    assert (file.name, file.why_not) == ("a\ufffd.log", "its name is not UTF-8")


def test_logs_argument_may_be_a_link_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text("one")
    (tmp_path / "named").symlink_to("logs")
    assert [f.name for f in files_at(str(tmp_path / "named"))] == ["server.log"]
    assert [f.name for f in files_at(str(tmp_path / "logs" / "server.log"))] == ["server.log"]


def test_missing_folder_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files_at(str(tmp_path / "nowhere"))
