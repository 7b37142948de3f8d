"""Archives of tar: each file that they hold is read where it lies, as if it lay in a folder of the archive's name."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import log_files
from kafka_hindsight.intake.log_files import list_places
from kafka_hindsight.logs.files import Listing, LogPlace
from tests.support.collected import Row, collected, log, passed, what
from tests.support.logs import lay, resigned

TEXT = "".join(log(300))
FILES: Mapping[str, bytes] = {
    "logs/broker-2/server.log": TEXT.replace("01:", "02:").encode(),
    "./logs/broker-1/server.log": TEXT.encode(),
    "logs/broker-1/server.log.2026-11-20-23.gz": gzip.compress(TEXT.replace("11-21", "11-20").encode()),
    "logs/broker-1/controller.log": resigned(7).encode() * 3,
    "logs/broker-1/nothing.log": b"",
}
SUFFIXES = ("tar", "tar.gz", "tgz", "tar.xz", "tar.bz2", "tar.zst", "tar.lz4")


def tar_of(files: Mapping[str, bytes], entries: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    """An archive of files, and of entries without bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for entry in entries:
            archive.addfile(entry)
    return packed.getvalue()


def packed(archive: bytes, suffix: str) -> bytes:
    """The bytes of an archive, packed as a suffix says."""
    if suffix.endswith("gz"):
        return gzip.compress(archive)
    if suffix.endswith("xz"):
        import lzma

        return lzma.compress(archive)
    codec = {"bz2": "bz2", "zst": "zstd", "lz4": "lz4"}.get(suffix.rpartition(".")[2])
    if codec is None:
        return archive
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(archive)
    return bytes(sink.getvalue())


def listing(root: Path | str) -> Listing:
    return list_places(LocalEngine(), [LogPlace(str(root), "broker", "UTC", "LOGS")], None)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], list[Row]]:
    """The records of an archive of each sort, and those of a folder of each archive's name."""
    root, names = tmp_path_factory.mktemp("read"), [f"night.{suffix}" for suffix in SUFFIXES]
    lay(root / "there", {name: packed(tar_of(FILES), name.removeprefix("night.")) for name in names})
    lay(root / "folders", {f"{name}/{file}": content for name in names for file, content in FILES.items()})
    engine = LocalEngine(piece=3000)
    return collected(root / "there", engine=engine), collected(root / "folders", engine=engine)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_archive_is_read_like_folder_of_its_name(read: tuple[list[Row], list[Row]], suffix: str) -> None:
    name = f"night.{suffix}"
    given, expected = (what([r for r in rows if r["source"].startswith(f"{name}/")]) for rows in read)
    assert len(given) == 903
    assert given == expected
    assert {source for _, source, *_ in given} == {
        f"{name}/logs/broker-{n}/{log_name}"
        for n, log_name in ((1, "server.log"), (2, "server.log"), (1, "controller.log"))
    }


def test_archives_give_no_other_records(read: tuple[list[Row], list[Row]]) -> None:
    assert [len(rows) for rows in read] == [903 * len(SUFFIXES)] * 2


def test_unchanged_archive_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []
    walk = log_files.members

    def counted(engine: Engine, archives: Any, judge: Any) -> Any:
        walked.extend(archive.name for archive in archives)
        return walk(engine, archives, judge)

    monkeypatch.setattr(log_files, "members", counted)
    lay(tmp_path, {name: packed(tar_of(FILES), "tgz") for name in ("a.tgz", "b.tgz")})
    look = partial(log_files.list_places, LocalEngine(), [LogPlace(str(tmp_path), "broker", "UTC", "LOGS")], None, {})
    assert look() == look()
    lay(tmp_path, {"b.tgz": packed(tar_of({"server.log": resigned(1).encode()}), "tgz")})
    assert {f.name for f in look().files if f.name.startswith("b")} == {"b.tgz/server.log"}
    assert walked == ["a.tgz", "b.tgz", "b.tgz"]


def test_entry_written_before_1970_counts_as_written_then(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("server.log")
    entry.mtime = -5
    late = tarfile.TarInfo("later.log")
    late.mtime = 1_700_000_000
    lay(tmp_path, {"night.tar": tar_of({}, (entry, late))})
    places = [LogPlace(str(tmp_path), "broker", "UTC", "LOGS")]
    files = log_files.list_places(LocalEngine(), places, None, {}).files
    assert sorted(f.modified_at.timestamp() for f in files) == [0, 1_700_000_000]


def test_archive_named_as_input_is_read(tmp_path: Path) -> None:
    lay(tmp_path, {"night.tgz": packed(tar_of(FILES), "tgz")})
    assert len(collected(tmp_path / "night.tgz")) == 903


def test_truncated_archive_is_read_to_break_and_reported(tmp_path: Path) -> None:
    plain = tar_of({"a/server.log": TEXT.encode(), "b/server.log": TEXT.encode()})
    cut = len(plain) // 4 * 3
    for name, archive in (("x.tar", plain[:cut]), ("x.tgz", gzip.compress(plain[:cut])), ("y.tgz", b"no tar at all")):
        root = lay(tmp_path / name, {name: archive, "other.log": resigned(1)})
        (reason,) = listing(root).not_read
        assert reason.startswith(f"{name} (a tar archive that cannot be read to its end: ")
        rows = collected(root)
        texts = [r["text"] for r in rows if r["source"] == f"{name}/a/server.log"]
        assert len(texts) == (300 if name.startswith("x") else 0)
        begun = [r["text"] for r in rows if r["source"] == f"{name}/b/server.log"]
        assert begun[:-1] == texts[: max(len(begun) - 1, 0)] and len(begun) < 300


def test_truncated_compressed_archive_keeps_files_before_break(tmp_path: Path) -> None:
    import random

    noise = "".join(resigned(random.Random(n).randrange(10**9)) for n in range(20_000)).encode()
    whole = gzip.compress(tar_of({"a.log": TEXT.encode(), "b.log": noise}))
    lay(tmp_path, {"x.tar.gz": whole[: len(whole) // 2], "other.log": resigned(1)})
    outcome = passed(tmp_path)
    facts = {fact.file.name: fact for fact in outcome.facts.values()}
    assert facts["x.tar.gz/a.log"].lines == TEXT.count("\n")
    assert 0 < facts["x.tar.gz/b.log"].lines < 20_000
    assert facts["x.tar.gz/b.log"].damage == "it is incomplete: it was cut off, or is still being written"


def test_hostile_archive_entries_are_names_not_paths(tmp_path: Path) -> None:
    link, device, far = tarfile.TarInfo("link.log"), tarfile.TarInfo("device.log"), tarfile.TarInfo("late.log")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    far.mtime = 2**40
    files = {
        "../../etc/server.log": resigned(1).encode(),
        "/abs.log": resigned(2).encode(),
        "n\udcff'; drop.log": resigned(3).encode(),
        "twice.log": resigned(4).encode(),
        "inner.tar.gz": packed(tar_of(FILES), "tar.gz"),
        "x/__cluster_metadata-0/00000000000000000000.log": b"\0" * 99,
    }
    lay(tmp_path, {"h.tar": tar_of(files, (link, device, far)), "e.tar": tar_of({})})
    held = listing(tmp_path)
    assert {f.name for f in held.files} == {
        "h.tar/../../etc/server.log",
        "h.tar/abs.log",
        "h.tar/n�'; drop.log",
        "h.tar/twice.log",
        "h.tar/late.log",
    }
    assert set(held.not_read) == {
        "e.tar (an archive that holds no file)",
        "h.tar/link.log (not a regular file)",
        "h.tar/device.log (not a regular file)",
        "h.tar/inner.tar.gz (an archive within an archive: unpack it)",
        "h.tar/x/__cluster_metadata-0/00000000000000000000.log (cluster metadata within an archive: unpack it)",
    }
    assert len(collected(tmp_path)) == 4


def test_last_of_two_archive_entries_with_same_name_counts(tmp_path: Path) -> None:
    first, last = tar_of({"server.log": resigned(1).encode()}), tar_of({"server.log": resigned(2).encode()})
    lay(tmp_path, {"night.tar": first[:1024] + last})
    (row,) = collected(tmp_path)
    assert "partition 2 " in row["text"]
