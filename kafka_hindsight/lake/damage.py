"""What kills, full disks and lost writes leave in a lake: found by names and newest commits, and what is safe to mend.

No engine is asked, so a step can look before it begins, and so can a machine without Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.codes import LakeDamage
from kafka_hindsight.lake import delta_log, landing, publication

STAGING = "staging"
ASIDE = "damaged"
"""Where what is taken out of a table's log goes: nothing that could be looked at is removed."""

OWNER = "_run.json"
"""Lies in staging, and names the run that filled it."""

_BEING_WRITTEN = re.compile(r"\..*\.tmp(\.crc)?|\.published\.json\.\d+")
_KEEPS_ROWS = {"OPTIMIZE", "VACUUM START", "VACUUM END"}
"""Operations after which a table has the rows that it had before: Delta's names."""

_AT_ONCE = 16

Restore = Callable[[Table, int], object]
"""Gives a table the rows back that it had in a version."""


@dataclass(frozen=True)
class Damage:
    """One thing that is not whole. Without `mend` it cannot be mended without a loss; `says` names what to do then."""

    kind: LakeDamage
    path: str
    says: str
    table: Table | None = None
    mend: Callable[[Restore], None] | None = None


def damages(lake: str) -> list[Damage]:
    """What is not whole in a lake, as far as names and the newest commit of each table show it."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        of_tables = [d for found in pool.map(lambda t: list(_of_table(lake, t)), TABLES) for d in found]
    return [*of_tables, *_half_published(lake, {d.table for d in of_tables}), *_staging(lake), *_root(lake)]


def _of_table(lake: str, table: Table) -> Iterator[Damage]:
    folder = f"{table.layer}/{table.name}"
    log = f"{folder}/{delta_log.FOLDER}"
    names = landing.names_in(f"{lake}/{log}")
    yield from (_left_over(lake, f"{log}/{name}") for name in sorted(names) if _BEING_WRITTEN.fullmatch(name))
    newest = delta_log.newest_version(names)
    if newest is None:
        yield from without_commit(lake, table)
    elif delta_log.commit_name(newest) in names:
        path = f"{log}/{delta_log.commit_name(newest)}"
        text = landing.read_bytes(f"{lake}/{path}").decode(errors="replace")
        if delta_log.is_cut(text):
            yield _cut(lake, table, path, newest, text)


def _left_over(lake: str, path: str) -> Damage:
    says = f"{path} was being written when its writer ended; no commit names it."
    return Damage(LakeDamage.TEMPORARY_FILE, path, says, mend=partial(_removed, f"{lake}/{path}"))


def _removed(place: str, _: Restore) -> None:
    landing.remove(place)


def without_commit(lake: str, table: Table) -> Iterator[Damage]:
    """What a table's folder without a commit is: a creation that was cut short, or, where it holds files, a loss."""
    folder = f"{table.layer}/{table.name}"
    if table.name not in landing.names_in(f"{lake}/{table.layer}"):
        return
    below = landing.files_below(f"{lake}/{folder}")
    held = [name for name in below if not delta_log.is_temporary(name.rpartition("/")[2])]
    if held:
        says = (
            f"{table.full_name} has no commit, and the file {held[0]}. Bring its {delta_log.FOLDER} back from a copy of"
            f" the lake; or move {folder} out of the lake, and the next run creates the table without those rows."
        )
        yield Damage(LakeDamage.NO_COMMIT, folder, says, table)
    else:
        says = f"{table.full_name} has no commit and no file: its creation was cut short. The next run creates it."
        yield Damage(LakeDamage.NO_COMMIT, folder, says, table, partial(_removed, f"{lake}/{folder}"))


def _cut(lake: str, table: Table, path: str, version: int, text: str) -> Damage:
    """Edge case: a commit by which no row came or went, and one of a publication that readers do not see yet, is put
    aside without a loss: the run that died writes it again.
    """
    unseen = table in publication.TOGETHER and publication.listed_version(lake, table, version) < version
    if version and (unseen or delta_log.info(text).get("operation") in _KEEPS_ROWS):
        says = f"The newest commit of {table.full_name}, {path}, is cut short. No row depends on it."
        return Damage(LakeDamage.CUT_COMMIT, path, says, table, partial(_put_aside, lake, table, version))
    again = "" if table.layer == "gold" else " and quality/parsed_hours"
    says = (
        f"The newest commit of {table.full_name}, {path}, is cut short, and rows depend on it. Bring the file back from"
        f" a copy of the lake. "
        + (
            "There is no other way: what was read is in this table alone; or name a new LAKE, and audit the logs again."
            if table.layer == "bronze"
            else f"Or move {table.layer}/{table.name}{again} out of the lake and run"
            " `hindsight audit` with FROM and TO for each window that is to be kept."
        )
    )
    return Damage(LakeDamage.CUT_COMMIT, path, says, table)


def _put_aside(lake: str, table: Table, version: int, _: Restore) -> None:
    """Edge case: Hadoop and Delta each keep a checksum beside a commit."""
    name, log = delta_log.commit_name(version), f"{lake}/{table.layer}/{table.name}/{delta_log.FOLDER}"
    landing.write_atomically(f"{lake}/{ASIDE}/{table.full_name}.{name}", landing.read_bytes(f"{log}/{name}"))
    for each in (name, f".{name}.crc", f"{version:020d}.crc", f".{version:020d}.crc.crc"):
        with suppress(FileNotFoundError):
            landing.remove(f"{log}/{each}")


def _half_published(lake: str, damaged: set[Table | None]) -> Iterator[Damage]:
    """Edge case: a table whose newest commit is cut is looked at again when that commit is put aside."""
    newest = publication.newest_versions(lake, *publication.TOGETHER)
    for table, version in publication.half_published(lake, newest).items():
        if table not in damaged:
            says = (
                f"{table.full_name} holds rows of a publication that ended half way. Readers see version {version},"
                " which it gets back; the run that died publishes those rows again."
            )
            path = f"{table.layer}/{table.name}"
            yield Damage(LakeDamage.HALF_PUBLISHED, path, says, table, partial(_restored, table, version))


def _restored(table: Table, version: int, restore: Restore) -> None:
    restore(table, version)


def _staging(lake: str) -> Iterator[Damage]:
    names = landing.names_in(f"{lake}/{STAGING}")
    staged = sorted(name for name in names if not name.startswith(("_", ".")))
    known = {t.name for t in TABLES if t.layer == "gold"} if OWNER in names else set()
    for name in staged:
        if name not in known:
            path = f"{STAGING}/{name}"
            says = f"{path} belongs to no run: the rebuild that filled it was cut short. The next rebuild fills it."
            yield Damage(LakeDamage.ORPHANED_STAGING, path, says, mend=partial(_removed, f"{lake}/{path}"))


def _root(lake: str) -> Iterator[Damage]:
    names = sorted(landing.names_in(lake))
    yield from (_left_over(lake, name) for name in names if _BEING_WRITTEN.fullmatch(name))
