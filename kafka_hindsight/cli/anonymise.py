"""`hindsight anonymise`: copy a folder of logs and readings, with pseudonyms in place of names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kafka_hindsight.anonymiser.folder_copy import Copy
from kafka_hindsight.anonymiser.names import Names
from kafka_hindsight.anonymiser.pseudonyms import Pseudonyms
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.plain import visible

_SHOWN = 10


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="logs of brokers and clients, readings")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="the folder of the copy, which must not exist")],
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write the pseudonym of each name into this file: keep it secret"),
    ] = None,
) -> int:
    """Copy a folder with pseudonyms for hosts, addresses, topics, groups, clients, users and paths."""
    if problems := list(_problems(folder, out, mapping)):
        raise BadInput(*problems)
    copy = Copy(folder, out)
    progress.say(f"Reading the names in {visible(str(folder))}")
    names = copy.find_names()
    pseudonyms = names.pseudonyms()
    progress.say(f"Writing the copy into {visible(str(out))}")
    copy.write(pseudonyms)
    by_kind = _by_kind(names, pseudonyms)
    if mapping:
        mapping.write_text(json.dumps(by_kind, indent=1), encoding="utf-8")
    print("\n".join(_sentences(copy, by_kind, names, pseudonyms)))
    return DONE


def _problems(folder: Path, out: Path, mapping: Path | None) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder} is not a folder. Needed: the folder with the logs. Check the path."
    for path in filter(None, (out, mapping)):
        if path.exists() or path.is_symlink():
            yield f"{path} exists. Needed: a path where nothing is. Name another one, or remove it."
        elif path.resolve().is_relative_to(folder.resolve()):
            yield f"{path} lies in {folder}. Needed: a path outside of it. Name another one."
    if mapping and mapping.resolve().is_relative_to(out.resolve()):
        yield f"{mapping} lies in {out}. Needed: a path outside of it, because the mapping is secret. Name another one."


def _by_kind(names: Names, pseudonyms: Pseudonyms) -> dict[str, dict[str, str]]:
    """The pseudonyms of names and addresses, by what they name."""
    kinds: dict[str, dict[str, str]] = {}
    for name, new in sorted(pseudonyms.by_name.items()):
        kinds.setdefault(names.kinds[name], {})[name] = new
    return {**kinds, "addresses": pseudonyms.by_address}


def _sentences(
    copy: Copy, by_kind: Mapping[str, Mapping[str, str]], names: Names, pseudonyms: Pseudonyms
) -> Iterator[str]:
    """The counts of the copy, and what its reader may still see."""
    counts = [f"{len(new):,} {kind}" for kind, new in by_kind.items()]
    yield f"The copy in {visible(str(copy.out))} has pseudonyms for {', '.join(counts)}."
    if stayed := sorted(names.kinds.keys() - pseudonyms.by_name.keys()):
        yield f"Kept, because they consist of Kafka's own words: {_some(stayed)}."
    if pseudonyms.ambiguous:
        yield (
            f"Kafka's text may hold the same words as {_some(sorted(pseudonyms.ambiguous))}: they are replaced only"
            " where they stand as names."
        )
    for name, why in list(copy.left_out.items())[:_SHOWN]:
        yield f"Not copied, or not whole: {visible(name)}, {why}."
    if len(copy.left_out) > _SHOWN:
        yield f"Not copied, or not whole: {len(copy.left_out) - _SHOWN} more."
    yield "All other text is as it was. Read the lines that your own programs wrote before you send the copy."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(map(visible, names[:_SHOWN]))}{more}"
