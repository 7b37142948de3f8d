"""`hindsight upgrade`: the lake of an earlier version becomes one of this version, and its nights are judged again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from kafka_hindsight.audit.follow import Screen, follow, relative, start_alone
from kafka_hindsight.catalog.quality import NIGHTS, PUBLICATIONS
from kafka_hindsight.catalog.steps import RECLASSIFY
from kafka_hindsight.lake.state import FILE, LAKE_VERSION, require_whole, version_of
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_upgrade import upgrade_tables
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.changes import declared_changes
from kafka_hindsight.settings.clusters import clusters
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import RUNS
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.page_names import page_name
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted, verb
from kafka_hindsight.steps.ingest import holds_records


class PublishedNight(NamedTuple):
    """A published window of a cluster."""

    cluster: str
    window: Window

    def __str__(self) -> str:
        return f"{self.cluster}, {self.window.start:%F %R} to {self.window.end:%F %R} UTC"

    @property
    def run_id(self) -> str:
        """The name of the run that judges it again: the same in each try, which goes on where another one ended."""
        page = page_name(self.cluster, self.window.start, self.window.end)
        return f"upgrade-{LAKE_VERSION}-{page.removesuffix('.html')}"


def upgrade(lake: str, values: Mapping[str, Any], say: Callable[[str], object] = print) -> int:
    """Make a lake one of this version, and judge each night of an earlier version again from bronze.

    The nights are judged one after another, the oldest first, each published as a whole: until then readers see the old
    one. A night without all of its records in bronze stays as the earlier version judged it. Another run goes on where
    one ended, and does nothing to a lake of this version.

    Args:
        lake: The lake.
        values: Settings of clusters that hindsight.toml does not name, by their fields.
        say: Prints a sentence about the progress.

    Returns:
        The exit code of the first night that could not be judged, else DONE.

    Raises:
        BadInput: There is no lake, or none that can be upgraded.
        LakeBusy: A run works on the lake.
    """
    if version_of(lake) is None:
        raise BadInput(f"There is no {FILE} in {masked(lake)}. Needed: a lake. Name one with --lake.")
    if tables := upgrade_tables(lake, f"upgrade-{LAKE_VERSION}"):
        have = verb(len(tables), "has", "have")
        say(f"{counted(len(tables), 'table')} of {masked(relative(lake))} now {have} today's columns.")
    require_whole(lake)
    store = Store(lake)
    nights = nights_of_earlier_versions(store)
    codes, old = list[int](), list[PublishedNight]()
    for number, night in enumerate(nights, start=1):
        settings = _settings(lake, values, night)
        if not holds_records(store, night.cluster, night.window, settings):
            old.append(night)
            continue
        say(f"Night {number} of {len(nights)}: {night}")
        codes.append(_judge_again(settings))
    judged = sum(code == DONE for code in codes)
    say(f"{counted(judged, 'night')} {verb(judged, 'was', 'were')} judged again by this version.")
    for night in old:
        say(f"Not judged again, since the lake does not have all of its records any more: {night}")
    return next((code for code in codes if code != DONE), DONE)


def nights_of_earlier_versions(store: Store) -> list[PublishedNight]:
    """The published windows that an earlier version judged last, or that have no page of this version; by time."""
    if not store.has(PUBLICATIONS):
        return []
    columns = ("cluster", "window_from", "window_to", "run_published_at", "run_id", "run_lake_version")
    rows = store.read(PUBLICATIONS, columns=columns).group_by([*columns]).aggregate([]).to_pylist()
    newest = dict[PublishedNight, tuple[str, int | None]]()
    for row in sorted(rows, key=lambda row: (row["run_published_at"], row["run_id"])):
        night = PublishedNight(row["cluster"], Window(row["window_from"], row["window_to"]))
        newest[night] = row["run_id"], row["run_lake_version"]
    with_page = set[tuple[str, str]]()
    if store.has(NIGHTS):
        with_page = {(n["cluster"], n["run_id"]) for n in store.read(NIGHTS, columns=("cluster", "run_id")).to_pylist()}
    old = [
        night
        for night, (run, version) in newest.items()
        if version != LAKE_VERSION or (run == night.run_id and (night.cluster, run) not in with_page)
    ]
    return sorted(old, key=lambda night: (night.window.start, night.cluster))


def _settings(lake: str, values: Mapping[str, Any], night: PublishedNight) -> Settings:
    """The settings by which a night is judged again: those of its cluster in hindsight.toml. No log is read."""
    own = (c.inputs for c in clusters() if c.name == night.cluster and c.lake.rstrip("/") == lake)
    return Settings.of(
        {
            "logs": lake,
            "engine": "local",
            **values,
            **next(own, {}),
            "lake": lake,
            "cluster": night.cluster,
            "window_from": night.window.start,
            "window_to": night.window.end,
            "run_id": night.run_id,
            "run_at": datetime.now(UTC),
            "owners": owners(),
            "changes": declared_changes(),
        }
    )


def _judge_again(settings: Settings) -> int:
    """Judge one window again in a process beside this one, show its progress, and return its exit code."""
    RUNS.mkdir(parents=True, exist_ok=True)
    log, progress_file = (RUNS / f"{settings.run_id}.{kind}" for kind in ("log", "progress"))
    progress_file.write_text("", encoding="utf-8")
    screen = Screen((RECLASSIFY,), "the night")
    with log.open("wb") as output:
        process = start_alone(RECLASSIFY.name, settings, {progress.FILE_VARIABLE: str(progress_file)}, output)
        follow(process, progress_file, screen)
    return screen.verdict(log)
