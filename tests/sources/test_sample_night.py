"""The recorded night out of each source, read by readings that are killed, and audited: the tables of the folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.settings.home import HOME
from lab.drill.cluster import DrillCluster
from lab.drill.jars import NEWEST
from tests.store.test_mixed_folder import OF_TEXT, without_text
from tests.support.lake import REBUILT, contents, rows
from tests.support.logs import ingested, published, settings
from tests.support.sources import in_order, killed_and_read_again, lines_of, produce, stamped, with_topic

PLACES = {"logs": "brokers", "clients": "clients"}
"""The folders of the night, and what their lines land as."""

_WITHIN = re.compile(r"//[\w./@:-]+")
"""What follows the file in the source of a line that was wrapped."""

Night = dict[str, list[tuple[datetime, str]]]
"""The lines of each log, with the instants at which a transport took them."""


@contextmanager
def commands(work: Path, name: str, night: Night) -> Iterator[str]:
    script = work / "print.py"
    script.write_text("import sys\nprint(end=''.join(t for t in open(sys.argv[1]) if t[:19] >= sys.argv[2][:19]))\n")
    toml = ['kind = "command"', "[commands]"]
    for log, lines in night.items():
        file = work / name / log
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{at:%Y-%m-%dT%H:%M:%S.%f}Z {line}\n" for at, line in lines))
        toml.append(f"{json.dumps(log)} = {json.dumps([sys.executable, str(script), str(file), '{since}'])}")
    yield "\n".join(toml)


@contextmanager
def topic(work: Path, name: str, night: Night) -> Iterator[str]:
    with DrillCluster.start(NEWEST, work / name, brokers=1) as cluster:
        with_topic(cluster.bootstrap, name, partitions=3)
        lines = {log: [line for _, line in entries] for log, entries in night.items()}
        produce(in_order(cluster.bootstrap), name, lines)
        yield f'kind = "kafka"\ntopic = "{name}"\nsettings = {{"bootstrap.servers" = "{cluster.bootstrap}"}}\n'


SOURCES: dict[str, Callable[..., Any]] = {
    "command": commands,
    "kafka": topic,
}


def audited(lake: Path, logs: str, clients: str, **window: str) -> Path:
    """The lake with the night, through all steps."""
    given = {"client_logs": clients, "snapshots": str(SAMPLE / "snapshots.jsonl"), **window}
    _, summary = ingested(lake, logs, **given)
    published(settings(lake, logs, **given), summary)
    return lake


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return audited(tmp_path_factory.mktemp("folder"), str(SAMPLE / "logs"), str(SAMPLE / "clients"))


def content_of_table(lake: Path, table: str) -> list[str]:
    """What the rows of a table say, but for the text of lines, and for the envelope's name of who wrote them."""
    content = [{c: row[c] for c in BY_NAME[table].content_columns if c not in OF_TEXT} for row in rows(lake, table)]
    return sorted(_WITHIN.sub("", str(without_text(row))) for row in content)


@pytest.mark.parametrize("kind", SOURCES)
def test_source_gives_same_tables_as_folder(
    kind: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Readings before the audit were killed between batches and within them."""
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(tmp_path))
    lake, killed = tmp_path / "lake", 0
    with ExitStack() as running:
        for name, origin in PLACES.items():
            night = {log: stamped(lines) for log, lines in lines_of(SAMPLE / name).items()}
            declaration = running.enter_context(SOURCES[kind](tmp_path, f"{kind}-{name}", night))
            (tmp_path / f"{name}.toml").write_text(declaration)
            landing = lake / "landing" / "logs" / origin / name
            killed += killed_and_read_again(f"source://{name}", landing, tmp_path, kills=3)
        assert killed > 1
        audited(lake, "source://logs", "source://clients")
    differing = [
        t.full_name for t in REBUILT if content_of_table(lake, t.full_name) != content_of_table(folder, t.full_name)
    ]
    assert differing == []
    if kind == "kafka":
        assert contents(lake) == contents(folder), "plain lines land as they are, so even their ids are the same"


def test_airflow_audit_of_sources_equals_audit_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(tmp_path))
    lake, (begin, end) = tmp_path / "lake", ("2026-11-21T00:00Z", "2026-11-22T00:00Z")
    given = {"SNAPSHOTS": str(SAMPLE / "snapshots.jsonl"), "CLUSTER": "prod", "FROM": begin, "TO": end}
    with ExitStack() as running:
        for name in PLACES:
            night = {log: stamped(lines) for log, lines in lines_of(SAMPLE / name).items()}
            declaration = running.enter_context(topic(tmp_path, f"airflow-{name}", night))
            (tmp_path / f"{name}.toml").write_text(declaration)
        places = {"LOGS": "source://logs", "CLIENT_LOGS": "source://clients", "LAKE": str(lake)}
        audit = [sys.executable, "-m", "kafka_hindsight.cli.nightly_dag"]
        variables = {**os.environ, **places, **given}
        done = subprocess.run(audit, cwd=HOME, env=variables, capture_output=True, text=True, timeout=2400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (lake / "report" / "index.html").exists()
    folders, window = [str(SAMPLE / name) for name in PLACES], {"window_from": begin, "window_to": end}
    assert contents(lake) == contents(audited(tmp_path / "plain", *folders, **window))
