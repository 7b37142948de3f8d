"""A folder's files are chosen by what is in them, whatever their names; each that is left out has a reason."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.log_files import list_places
from kafka_hindsight.logs.contents import EMPTY, FOREIGN, NOT_TEXT, UNKNOWN, why_not_of
from kafka_hindsight.logs.files import Listing, LogPlace

STARTED = "[2026-03-01 10:00:05,000] INFO [KafkaServer id=7] started (kafka.server.KafkaServer)\n"
STOPPED = "[2026-03-01 10:30:05,000] INFO [KafkaServer id=7] shut down completed (kafka.server.KafkaServer)\n"
TEXT = STARTED + STOPPED
ODD = (
    "<2026-03-01 10:00:05,000> {kafka.server.KafkaServer} INFO ~ [KafkaServer id=7] started\n"
    "<2026-03-01 10:30:05,000> {kafka.server.KafkaServer} INFO ~ [KafkaServer id=7] shut down completed\n"
)
CLIENT = (
    "%4|1772359200.000|MAXPOLL|orders#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded\n"
)
SETTINGS = "broker.id=7\nlog.dirs=/data\nzookeeper.connect=zk:2181\n"
PROSE = "# Our cluster\n\nThe Kafka brokers of the shop were restarted on Monday, and a consumer group stood still.\n"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("server.log", TEXT)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "why_not"),
    [
        (TEXT.encode(), ""),
        (TEXT.replace("\n", "\r\n").encode(), ""),
        (TEXT.encode("utf-16"), ""),
        (b"\xef\xbb\xbf" + TEXT.encode(), ""),
        (CLIENT.encode(), ""),
        (ODD.encode(), ""),
        ("".join(f'{{"log":"{line[:-1]}\\n","stream":"stdout"}}\n' for line in (STARTED, STOPPED)).encode(), ""),
        (b"", EMPTY),
        (bytes(1000), NOT_TEXT),
        (b"\x7fELF kafka\0\0", NOT_TEXT),
        (b"Mar  1 10:00:05 web nginx[1]: started\n", FOREIGN),
        ("Der Rechner wurde neu gestartet: überprüfen\n".encode("cp1252"), FOREIGN),
        (SETTINGS.encode(), UNKNOWN),
        (PROSE.encode(), UNKNOWN),
        (zipped(), "a zip archive: unpack it"),
        (gzip.compress(TEXT.encode()), "packed by gzip: let its name end with .gz"),
    ],
)
def test_file_is_judged_by_its_first_bytes(data: bytes, why_not: str) -> None:
    assert why_not_of(data, None) == why_not


def listing(folder: Path, glob: str | None = None, origin: str = "broker") -> Listing:
    return list_places(LocalEngine(), [LogPlace(str(folder), origin, "UTC", "LOGS")], glob)


@pytest.mark.parametrize("origin", ["broker", "client"])
def test_logs_of_any_name_are_read_and_others_are_named_with_the_reason(tmp_path: Path, origin: str) -> None:
    files = {
        "server.txt": TEXT.encode(),
        "broker-8/stdout": TEXT.encode("utf-16"),
        "notes.md": PROSE.encode(),
        "app.log": b"a log by its name is read, and its lines are counted\n",
        "photo.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF",
        ".hidden.txt": TEXT.encode(),
        "kafkaServer-gc.log": b"[0.011s][info][gc] Using G1\n",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    found = listing(tmp_path, origin=origin)
    assert [f.name for f in found.files] == ["app.log", "broker-8/stdout", "server.txt"]
    assert found.not_read == (
        ".hidden.txt (hidden: its name begins with a dot or an underscore)",
        "kafkaServer-gc.log (a log of the JVM's garbage collector)",
        f"notes.md ({UNKNOWN})",
        f"photo.jpg ({NOT_TEXT})",
    )
    of_glob = listing(tmp_path, "*.md", origin)
    assert [f.name for f in of_glob.files] == ["notes.md"]
    assert "server.txt (GLOB does not name it)" in of_glob.not_read


def test_huge_file_that_is_no_log_is_not_read_through(tmp_path: Path) -> None:
    (tmp_path / "server.txt").write_text(TEXT)
    with (tmp_path / "core").open("wb") as file:
        file.truncate(1 << 40)
    assert listing(tmp_path).not_read == (f"core ({NOT_TEXT})",)


def test_files_of_an_archive_are_chosen_by_content(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as archive:
        for name, data in {"server.txt": TEXT.encode(), "notes.md": PROSE.encode(), "disk.img": bytes(4096)}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    found = listing(tmp_path)
    assert [f.name for f in found.files] == ["logs.tar.gz/server.txt"]
    assert found.not_read == (f"logs.tar.gz/notes.md ({UNKNOWN})", f"logs.tar.gz/disk.img ({NOT_TEXT})")
