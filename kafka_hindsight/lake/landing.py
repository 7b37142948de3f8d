"""Files wherever a lake or logs lie, and the folders in which live readings land, one file each. No JVM, no Spark."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from kafka_hindsight.lake.damage import damaged, unsealed, with_checksum, without_checksum
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.held_locks import end_if_lost

SNAPSHOTS = "snapshots"
GROUP_RECORDS = "group_records"
OFFSET_COMMITS = "offset_commits"

SCRATCH = "scratch"

_LONGEST = 120
_STAMP = "%Y%m%dT%H%M%SZ"
"""The format of an instant in a file's name."""

_PROCESS = f"{datetime.now(UTC):{_STAMP}}-{uuid4()}"

_LANDED = {
    SNAPSHOTS: re.compile(r"(?P<cluster>.+)-\d{8}T\d{6}Z\.jsonl"),
    **dict.fromkeys((GROUP_RECORDS, OFFSET_COMMITS), re.compile(r"(?P<cluster>.+)-\d{8}T\d{6}Z-[0-9a-f]{16}\.jsonl")),
}
_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""Hadoop's names of file systems, as pyarrow calls them."""

_RENAMING = ("hdfs", "viewfs")
"""File systems that show a file while it is written; object stores show it when it is whole."""


def landing_folder(lake: str, kind: str) -> str:
    """The folder in which things of a kind land."""
    return f"{lake.rstrip('/')}/landing/{kind}"


def landed_name(cluster: str, at: datetime) -> str:
    """The name of the file for one cluster and instant: always the same."""
    return f"{landed_stem(cluster, at)}.jsonl"


def landed_stem(cluster: str, at: datetime) -> str:
    """The beginning of the name of each file that lands for one cluster at one instant."""
    return f"{safe_name(cluster)}-{at.astimezone(UTC):{_STAMP}}"


def safe_name(text: str) -> str:
    """A cluster's name as part of a file's name: no two names become one, and none leads out of the folder.

    Spark passes over files whose names begin with a dot or an underscore, and a cluster id may begin so.
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else _escaped(c) for c in text)
    if safe[:1] in "._-":
        safe = "".join(map(_escaped, safe[:1])) + safe[1:]
    if len(safe) <= _LONGEST:
        return safe
    return safe[:_LONGEST] + "~" + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def positions_file(lake: str, cluster: str) -> str:
    """The file that says how far the records of a cluster's groups were read, with the runs of commits still open."""
    return f"{landing_folder(lake, GROUP_RECORDS)}/{safe_name(cluster)}.positions.json"


def scratch(lake: str) -> str:
    """The folder of the lake for what this process keeps until the end of its step."""
    return f"{lake.rstrip('/')}/{SCRATCH}/{_PROCESS}"


def remove_old_scratch(lake: str, before: datetime) -> None:
    """Remove the scratch folders of processes that began long ago, and died."""
    for name in names_in(f"{lake}/{SCRATCH}"):
        if name < f"{before.astimezone(UTC):{_STAMP}}":
            remove(f"{lake}/{SCRATCH}/{name}")


def newest_landed(lake: str) -> dict[str, str]:
    """The file of the newest reading of each cluster, by the cluster's safe name."""
    folder = landing_folder(lake, SNAPSHOTS)
    names = {m["cluster"]: name for name in list_landed(lake, SNAPSHOTS) if (m := _LANDED[SNAPSHOTS].fullmatch(name))}
    return {cluster: f"{folder}/{name}" for cluster, name in names.items()}


def list_landed_of(lake: str, kind: str, clusters: Iterable[str]) -> set[str]:
    """The names of the files of a kind that landed under one of these names of clusters."""
    safe_names = {safe_name(cluster) for cluster in clusters}
    return {
        n for n in list_landed(lake, kind) if (match := _LANDED[kind].fullmatch(n)) and match["cluster"] in safe_names
    }


def list_landed(lake: str, kind: str) -> list[str]:
    """The names of the files of a kind, oldest first within a cluster; none if nothing has landed yet."""
    names = names_in(landing_folder(lake, kind))
    return sorted(n for n in names if n.endswith(".jsonl") and not n.startswith("."))


def damaged_files(lake: str) -> list[str]:
    """The landed files whose lines are not those that were written, as paths in the lake."""
    names = [f"{landing_folder('', kind)[1:]}/{name}" for kind in _LANDED for name in list_landed(lake, kind)]
    return [name for name in names if not unsealed(read_bytes(f"{lake}/{name}"))[1]]


def names_in(place: str) -> list[str]:
    """The names of files and folders in a folder; none if there is no such folder."""
    system, folder = _resolve(place)
    if system is None:
        return [p.name for p in Path(folder).iterdir()] if Path(folder).is_dir() else []
    from pyarrow.fs import FileSelector

    return [f.base_name for f in system.get_file_info(FileSelector(folder, allow_not_found=True))]


def files_below(place: str) -> list[str]:
    """The files in a folder and in the folders below it, as paths from there."""
    system, folder = _resolve(place)
    if system is None:
        return [str(p.relative_to(folder)) for p in Path(folder).rglob("*") if not p.is_dir()]
    return [path for path, _ in stored_below(place)]


def remove(place: str) -> None:
    """Remove a file, or a folder with all that it holds, if it is there. A run that has lost a lock ends first."""
    end_if_lost()
    system, path = _resolve(place)
    if system is None:
        shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink(missing_ok=True)
    elif system.get_file_info(path).type.name == "Directory":
        system.delete_dir(path)
    elif system.get_file_info(path).is_file:
        system.delete_file(path)


def remove_abandoned(place: str, before: datetime) -> int:
    """Remove hidden files of writers that died, in a folder of this machine and below it, and count them.

    A store shows a file when it is whole, so it has none.
    """
    system, folder = _resolve(place)
    abandoned = [] if system is not None else [p for p in Path(folder).rglob(".*") if _is_abandoned(p, before)]
    for file in abandoned:
        file.unlink(missing_ok=True)
    return len(abandoned)


def _is_abandoned(file: Path, before: datetime) -> bool:
    """Whether a file has the name of `_temporary_file` or of `packing`, and has rested."""
    with suppress(FileNotFoundError):
        is_ours = re.fullmatch(r"[.].+[.]\d+", file.name) and file.is_file()
        return bool(is_ours) and file.stat().st_mtime < before.timestamp()
    return False


def landed_at(name: str) -> datetime | None:
    """The instant in a landed file's name; None if it has none."""
    match = re.search(r"-(\d{8}T\d{6}Z)(?:-[0-9a-f]{16})?\.jsonl$", name)
    return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None


def is_there(place: str) -> bool:
    """Whether a file or a folder lies at a place."""
    system, path = _resolve(place)
    return Path(path).exists() if system is None else system.get_file_info(path).type.name != "NotFound"


def stored_below(place: str) -> list[tuple[str, Any]]:
    """The files in a folder of a store and below it: the path from there, and pyarrow's FileInfo.

    If the place is a file itself, its path is empty.
    """
    from pyarrow.fs import FileSelector, FileType

    system, path = _resolve(place)
    itself = system.get_file_info(path)
    below = FileSelector(path, allow_not_found=True, recursive=True)
    entries = [itself] if itself.type == FileType.File else system.get_file_info(below)
    return [(f.path.removeprefix(path).lstrip("/"), f) for f in entries if f.type == FileType.File]


@contextmanager
def packing(place: str) -> Iterator[Any]:
    """Open a file of zstd to write part after part. It appears whole when the block ends, for this user alone."""
    import pyarrow as pa

    system, path = _resolve(place)
    if system is not None:
        with system.open_output_stream(path, compression="zstd") as packed:
            yield packed
        return
    temporary = f"{path}.{os.getpid()}"
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    try:
        private = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with open(private, "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
            yield packed
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def open_file(place: str) -> Any:
    """Open a file of pyarrow's for reads at any position. Raises: OSError."""
    import pyarrow as pa

    system, path = _resolve(place)
    return pa.OSFile(path) if system is None else system.open_input_file(path)


def read_json(place: str) -> Any:
    """Read the JSON value of one file; None if there is no such file.

    Raises:
        Damaged: The file has other bytes than `write_json` wrote.
    """
    if not is_there(place):
        return None
    try:
        value = json.loads(read_bytes(place))
    except ValueError:
        raise damaged(masked(place)) from None
    return without_checksum(value, masked(place))


def write_json(place: str, value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a value as JSON, an object with its checksum, in place of what was there."""
    write_atomically(place, json_text(value))


def json_text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """A value as JSON, an object with its checksum."""
    plain = json.loads(json.dumps(value, default=str))
    return json.dumps(with_checksum(plain) if isinstance(plain, dict) else plain, indent=1)


def read_text(place: str) -> str:
    """The text of one file. Raises: FileNotFoundError."""
    return read_bytes(place).decode()


def read_bytes(place: str) -> bytes:
    """The bytes of one file. Raises: FileNotFoundError."""
    system, path = _resolve(place)
    if system is None:
        return Path(path).read_bytes()
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())


def write_atomically(place: str, content: str | bytes) -> None:
    """Write a file, in place of what was there, so that a reader sees it whole or not at all.

    A run that has lost a lock ends first.
    """
    end_if_lost()
    data = content.encode() if isinstance(content, str) else content
    system, path = _resolve(place)
    if system is None:
        with _temporary_file(path, data) as file:
            file.replace(path)
    elif place.partition(":")[0] in _RENAMING:
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{os.getpid()}"
        system.create_dir(folder, recursive=True)
        _write_stream(system, temporary, data)
        if system.get_file_info(path).is_file:  # HDFS renames onto nothing
            system.delete_file(path)
        system.move(temporary, path)
    else:
        _write_stream(system, path, data)


def write_new(place: str, text: str) -> None:
    """Write a file as `write_atomically` does, if there is none yet.

    If two write one file of a store at once, the last one wins.
    """
    system, path = _resolve(place)
    if system is None:
        with _temporary_file(path, text.encode()) as file, suppress(FileExistsError):
            os.link(file, path)
    elif not is_there(place):
        write_atomically(place, text)


@contextmanager
def _temporary_file(path: str, data: bytes) -> Iterator[Path]:
    """Write the bytes into a file beside its place on this machine, and remove it if it is not moved there."""
    temporary = Path(path).with_name(f".{Path(path).name}.{os.getpid()}")
    temporary.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _write_stream(system: Any, path: str, data: bytes) -> None:
    with system.open_output_stream(path) as stream:
        stream.write(data)


def _resolve(place: str) -> tuple[Any, str]:
    """The file system of a place, None for this machine's own, and the path in it."""
    if not is_uri(place):
        return None, os.path.abspath(os.path.expanduser(place))
    scheme, _, rest = place.partition(":")
    if scheme == "file":
        return None, unquote(urlsplit(place).path)
    store, _, path = rest.removeprefix("//").partition("/")
    try:
        system, root = _store(f"{_SCHEMES.get(scheme, scheme)}://{store}/")
    except ValueError as refusal:
        raise _refusal_to_open(place, refusal, "a folder, or a URI of s3a, gs, abfs or hdfs. Check it.") from None
    except OSError as refusal:
        if not str(refusal).startswith("Unable to load lib"):
            raise
        needs = (
            "JAVA_HOME, HADOOP_HOME, and CLASSPATH as `hadoop classpath --glob` gives it. Set them where readings land."
        )
        raise _refusal_to_open(place, refusal, needs) from None
    return system, f"{root.rstrip('/')}/{path.strip('/')}".rstrip("/")


@cache
def _store(uri: str) -> tuple[Any, str]:
    """A store, and the beginning of its paths. Names of objects are not decoded: Hadoop does not decode them either."""
    from pyarrow.fs import FileSystem

    system_and_root: tuple[Any, str] = FileSystem.from_uri(uri)
    return system_and_root


def _refusal_to_open(place: str, refusal: Exception, needs: str) -> BadInput:
    reason = masked(str(refusal)).splitlines()[0]
    return BadInput(f"{masked(place)} cannot be opened: {reason}. Needed: {needs}")


def _escaped(character: str) -> str:
    return "".join(f"~{byte:02x}" for byte in character.encode(errors="surrogatepass"))
