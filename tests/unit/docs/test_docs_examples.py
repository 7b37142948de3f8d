"""What pages name is there, and their examples of shipping and installing work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from kafka_hindsight.catalog.codes import Cause, FailoverKind, ImbalanceEnd, OutOfSyncKind
from kafka_hindsight.cli import main as cli
from kafka_hindsight.intake.log_files import why_not_read
from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.logs import reading
from kafka_hindsight.logs.files import LogPlace
from kafka_hindsight.logs.found_files import files_at
from kafka_hindsight.settings.models import MEANINGS, variable
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.docs import PAGES
from tests.support.nights import EXCERPTS
from tools import plain_reader
from tools.pages import docs

HOME = Path(__file__).resolve().parents[3]
DOCS = HOME / "docs"


# --- what pages name is there -------------------------------------------------------------------------------------


def programs() -> str:
    """What reads variables: the programs, the DAGs, set-up and the compose file."""
    folders = ("kafka_hindsight", "spark_jobs", "plugins", "dags", "setup", "lab")
    files = [p for folder in folders for p in sorted((HOME / folder).rglob("*.py"))]
    return "".join(p.read_text(encoding="utf-8") for p in (*files, HOME / "docker-compose.yml", HOME / "Makefile"))


SOURCES = programs()
VARIABLES = {f"HINDSIGHT_{variable(field)}" for field in MEANINGS} | set(
    re.findall(r'(?:"|\$\{|\b)(HINDSIGHT_[A-Z_]+)\b', SOURCES)
)
RECEIVERS = "HINDSIGHT_ALERTS_"
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (HOME / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
VERBS = {*cli.VERBS}


def test_every_variable_on_pages_is_read() -> None:
    named = set(re.findall(r"\bHINDSIGHT_[A-Z_]*[A-Z]\b", "\n".join(PAGES.values())))
    assert {v for v in named if not v.startswith(RECEIVERS)} <= VARIABLES


def test_every_make_target_and_verb_on_pages_exists() -> None:
    whole = "\n".join(PAGES.values())
    shown = [*re.findall(r"^    .*$", whole, flags=re.MULTILINE), *re.findall(r"`[^`\n]+`", whole)]
    text = "\n".join(shown)
    assert set(re.findall(r"(?:^\s*|`)make ([a-z][a-z0-9-]*)", text, flags=re.MULTILINE)) <= TARGETS
    assert set(re.findall(r"(?:^\s*|`|&& )(?:\./)?hindsight ([a-z]+)", text, flags=re.MULTILINE)) <= VERBS


def test_every_named_query_on_pages_exists() -> None:
    form = re.compile(r"""\b(?:Q=|hindsight sql )["']?([a-z_]+)(?=["'\s`]|$)""", flags=re.MULTILINE)
    assert set(form.findall("\n".join(PAGES.values()))) - {"select"} <= set(named_queries())


def named_paths(page: str) -> Iterator[str]:
    """Files and folders of ours that a page names, also with a star in them."""
    folders = "kafka_hindsight|spark_jobs|tests|docs|dags|plugins|setup|locks|queries|expectations|lab|tools|samples"
    for path in re.findall(rf"`((?:{folders})/[\w./*-]*)`", page):
        yield path.rstrip(".")


def test_every_path_on_pages_exists() -> None:
    named = {path.rstrip("/") for text in PAGES.values() for path in named_paths(text)}
    assert {path for path in named if not any(HOME.glob(path))} == set()


@cache
def anchors(page: Path) -> set[str]:
    """The places in a page that a link may name."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^a-z0-9_ -]", "", h.lower()).replace(" ", "-") for h in headings}


def test_every_link_between_pages_has_a_target() -> None:
    for name, text in PAGES.items():
        folder = HOME if name == "README.md" else DOCS
        for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)", text):
            page = folder / (target or name)
            assert page.exists(), f"{name}: {target}"
            assert not anchor or anchor in anchors(page), f"{name}: {target}#{anchor}"


# --- shipping and installing --------------------------------------------------------------------------------------


def test_shipper_configurations_parse_and_change_no_line() -> None:
    blocks = dict(re.findall(r"<!-- example: (\S+) -->\n```yaml\n(.*?)```", PAGES["shipping_logs.md"], flags=re.DOTALL))
    assert set(blocks) == {"fluent-bit.yaml", "vector.yaml", "filebeat.yml", "log4j2.yaml"}
    read = {name: yaml.safe_load(text) for name, text in blocks.items()}
    fluent = read["fluent-bit.yaml"]["pipeline"]
    assert {i["tag"] for i in fluent["inputs"]} == {o["match"] for o in fluent["outputs"]}
    assert {o["template"] for o in fluent["outputs"]} == {"{log}"}
    assert read["vector.yaml"]["sinks"]["shared"]["encoding"] == {"codec": "text"}
    assert len({i["fields"]["file"] for i in read["filebeat.yml"]["filebeat.inputs"]}) == 2
    pattern = read["log4j2.yaml"]["Configuration"]["Appenders"]["RollingFile"]["PatternLayout"]["pattern"]
    assert pattern in APACHE.source


def why_not_entry(folder: Path, name: str) -> str:
    """Why an empty file of a folder is not read."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
    (entry,) = files_at(str(folder))
    return why_not_read(entry, LogPlace(str(folder), "broker", "UTC", "LOGS"), None)


@pytest.mark.parametrize("file", ["server.log", "server.log.2026-11-20-23", "kafka.log", "app.log", "a/app.log.1.gz"])
def test_file_called_log_in_docs_is_read(file: str, tmp_path: Path) -> None:
    assert why_not_entry(tmp_path, file) == ""


@pytest.mark.parametrize("file", [".server.log.Xa81Bc", "kafkaServer-gc.log", "00000000000000000000.log"])
def test_file_called_no_log_in_docs_is_not_read(file: str, tmp_path: Path) -> None:
    assert why_not_entry(tmp_path, file)


@pytest.mark.parametrize("folder", ["broker-3", "kafka_3", "prod-kafka-3", "controller-3", "kafka-3/var/log/kafka"])
def test_folder_name_in_docs_names_broker(folder: str) -> None:
    assert reading.broker_of_folder(f"{folder}/server.log") == 3


def events_in(folder: Path) -> Counter[tuple[int | None, str, str]]:
    """What the logs of a folder say: who, when, what."""
    events, _ = plain_reader.read_logs(folder, "broker", "orders")
    return Counter((e.broker, e.kind, str(e.happened_at)) for e in events)


@pytest.mark.parametrize("night", ["crash-2.8", "pause-4.1"])
def test_one_log_of_all_loggers_gives_same_events(night: str, tmp_path: Path) -> None:
    for folder in (f for f in sorted((EXCERPTS / night).iterdir()) if f.is_dir()):
        lines = [line for log in sorted(folder.glob("*.log")) for line in log.read_text().splitlines(keepends=True)]
        (tmp_path / folder.name).mkdir()
        (tmp_path / folder.name / "kafka.log").write_text("".join(sorted(lines, key=lambda line: line[:25])))
    assert events_in(tmp_path) == events_in(EXCERPTS / night) != Counter()


@pytest.mark.parametrize("before", ["2026-11-21T01:52:24Z ", "[pod/kafka-0/kafka] ", "2026-11-21T01:52:24Z stdout F "])
def test_line_with_text_before_head_gives_no_event(before: str, tmp_path: Path) -> None:
    folder = next(f for f in sorted((EXCERPTS / "crash-2.8").iterdir()) if f.is_dir())
    (tmp_path / folder.name).mkdir()
    for log in folder.glob("*.log"):
        shipped = "".join(before + line for line in log.read_text().splitlines(keepends=True))
        (tmp_path / folder.name / log.name).write_text(shipped)
    assert events_in(tmp_path) == Counter()


def test_versions_on_install_page_are_locked_ones() -> None:
    page = PAGES["install.md"]
    (spark,) = re.findall(r"^pyspark==(\S+)", (HOME / "locks" / "spark.txt").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"Spark (\d+\.\d+\.\d+)", page)) == {spark}
    airflow = (HOME / "locks" / "airflow.txt").read_text()
    (versions,) = re.findall(r"Airflow (\d+\.\d+) with the provider apache-spark (\d+\.\d+)", page)
    assert f"\napache-airflow=={versions[0]}." in f"\n{airflow}"
    assert f"apache-airflow-providers-apache-spark=={versions[1]}." in airflow


def test_runbook_has_every_rule_cause_and_kind() -> None:
    page = docs.pages()["runbook.md"]
    assert all(f"[{r.rule_id}](rules.md#{r.rule_id})" in page for r in RULES)
    assert all(f"[{code}](causes.md#{code})" in page for code in Cause)
    assert all(f"| `{kind}` |" in page for kind in (*FailoverKind, *OutOfSyncKind, *ImbalanceEnd))


def test_adr_index_lists_every_decision() -> None:
    index = (DOCS / "adr" / "README.md").read_text(encoding="utf-8")
    for page in sorted((DOCS / "adr").glob("[0-9]*.md")):
        number, title = re.match(r"# (\d+)\. (.*)", page.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]
        assert int(number) == int(page.name[:4])
        assert f"| {number} | [{title}]({page.name}) |" in index
