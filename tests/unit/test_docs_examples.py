"""What docs tell people to write works: the examples of docs/extending.md run, and what pages name is there."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from expectations.derive import expectations_of
from kafka_hindsight.catalog import codes, gold, rows
from kafka_hindsight.catalog.causes import CauseCode
from kafka_hindsight.catalog.codes import Cause, FailoverKind, ImbalanceEnd, OutOfSyncKind
from kafka_hindsight.cli import main as cli
from kafka_hindsight.intake.log_files import _is_log
from kafka_hindsight.judgements.reasoning.proofs import says
from kafka_hindsight.judgements.rebalances import judge
from kafka_hindsight.judgements.rebalances.group_history import Change
from kafka_hindsight.judgements.rebuild import published, sources
from kafka_hindsight.knowledge.conversion import compile_pattern
from kafka_hindsight.knowledge.harms import FAILOVER_ADVICE
from kafka_hindsight.knowledge.imbalance_advice import IMBALANCE_ADVICE
from kafka_hindsight.knowledge.isr_advice import OUT_OF_SYNC_ADVICE
from kafka_hindsight.knowledge.layouts import APACHE, class_of
from kafka_hindsight.knowledge.rules import RULE_BY_ID, RULES
from kafka_hindsight.lake.ddl import properties
from kafka_hindsight.logs import plain_reader, reading
from kafka_hindsight.report import build as report_build
from kafka_hindsight.report import sections as report_sections
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.settings.models import MEANINGS, variable
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.docs import PAGES
from tests.support.groups import excerpt
from tests.support.nights import EXCERPTS
from tests.support.report_night import night
from tests.support.rulings import wording
from tests.support.spark_rows import columns_ddl
from tests.unit import test_patterns, test_rebalances_rulings
from tools.pages import docs, samples
from tools.pages.markdown import prose
from tools.pages.ruling_pages import causes_page
from tools.pages.samples import Captured

HOME = Path(__file__).resolve().parents[2]
DOCS = HOME / "docs"
each_page = pytest.mark.parametrize("name", PAGES)

GIVEN = {"__name__": "docs_extending"}


def sections() -> dict[str, list[str]]:
    """The blocks of Python of docs/extending.md by their headings."""
    parts = re.split(r"^## (.*)$", PAGES["extending.md"], flags=re.MULTILINE)[1:]
    return {
        heading: re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }


def samples_in(heading: str) -> list[Captured]:
    """The rows of samples below a heading of docs/extending.md."""
    text = PAGES["extending.md"].partition(f"## {heading}\n")[2].partition("\n## ")[0]
    (rows,) = re.findall(r"```jsonl\n(.*?)```", text, flags=re.DOTALL)
    return [Captured(version="0.11", **json.loads(row)) for row in rows.splitlines()]


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(block, "docs/extending.md", "exec"), names)  # our own page
    return names


def test_every_kind_of_extension_has_its_example() -> None:
    assert {h: len(blocks) for h, blocks in sections().items()} == {
        "A pattern": 1,
        "A layout or an envelope": 1,
        "A cause": 2,
        "A rule": 3,
        "A table": 4,
        "A section of the report": 2,
        "A source": 2,
    }


def test_the_pattern_keeps_the_laws_of_all_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = sections()["A pattern"]
    pattern = run(block, dict(GIVEN))["PATTERN"]
    (name,) = {class_of(logger) for logger in pattern.loggers}
    knowledge = reading.LOGGER_KNOWLEDGE[name]
    monkeypatch.setattr(samples, "captured", partial(tuple, [*samples.captured(), *samples_in("A pattern")]))
    monkeypatch.setattr(test_patterns, "PATTERNS", (*test_patterns.PATTERNS, pattern))
    monkeypatch.setitem(test_patterns.OF_CLASS, name, [*test_patterns.OF_CLASS[name], pattern])
    patterns = (*knowledge.patterns, (pattern.contains, pattern))
    monkeypatch.setitem(reading.LOGGER_KNOWLEDGE, name, replace(knowledge, patterns=patterns))
    test_patterns.test_each_pattern_has_its_own_name()
    test_patterns.test_pattern_uses_kinds_and_fields_of_the_catalog()
    test_patterns.test_regex_matches_the_whole_message_with_named_groups_alone()
    test_patterns.test_samples_are_claimed_by_their_pattern_alone(pattern)
    test_patterns.test_counter_samples_are_not_claimed_by_their_pattern()
    test_patterns.test_regex_on_hostile_text_takes_less_than_a_second(pattern)


def test_the_layout_reads_its_samples_and_no_other() -> None:
    (block,) = sections()["A layout or an envelope"]
    layout = run(block, dict(GIVEN))["LAYOUT"]
    head = compile_pattern(layout.pattern).head
    shown, unlike = samples_in("A layout or an envelope")
    assert (shown.shows, unlike.unlike) == (layout.name, [layout.name])
    assert reading.read_record(layout.pattern, shown.record).pattern
    assert not head.match(unlike.record)


def test_the_cause_takes_over_what_it_names_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, ruled = sections()["A cause"]
    noun = run(declared, dict(GIVEN))["MEMBER_CLOSED"]
    assert noun.code not in set(Cause)
    nouns = {**{c.name: c.noun for c in Cause}, "MEMBER_CLOSED": noun}
    monkeypatch.setattr(codes, "Cause", CauseCode("Cause", nouns))  # type: ignore[call-arg, arg-type]
    ruling = run(ruled, dict(GIVEN))["RULING"]
    before = excerpt("leaves-3.9").history().rebalances
    monkeypatch.setitem(judge.BY_CHANGE, Change.LEFT, (ruling, *judge.BY_CHANGE[Change.LEFT]))
    after = excerpt("leaves-3.9").history().rebalances
    changed = [(b.cause, a) for b, a in zip(before, after, strict=True) if b.cause != a.cause]
    assert changed
    assert {was for was, _ in changed} == {Cause.MEMBER_LEFT}
    assert {now.cause for _, now in changed} == {noun.code}
    assert {now.advice for _, now in changed} == {noun.advice}
    assert all(wording(ruling).match(now.explanation) for _, now in changed)
    monkeypatch.setattr(test_rebalances_rulings, "rebalances", test_rebalances_rulings.rebalances.__wrapped__)
    assert test_rebalances_rulings.row_of(ruling.cases[0]).cause == noun.code
    assert test_rebalances_rulings.row_of(ruling.cases[1]).cause != noun.code
    assert prose(says(ruling.proof[0])) in causes_page([ruling.code], {"a member left": [ruling]}, {id(ruling): "here"})


def test_the_rule_fires_above_its_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, judged, tested = sections()["A rule"]
    added = run(declared, dict(GIVEN))
    rule = added["RULE"]
    assert rule.rule_id not in RULE_BY_ID
    monkeypatch.setitem(RULE_BY_ID, rule.rule_id, rule)
    run(judged, added)
    run(tested, added)
    assert f"[{rule.rule_id}](rules.md#{rule.rule_id})" in docs.runbook_page([rule], [])


def test_the_table_gives_all_that_tables_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared, judged, wired, tested = sections()["A table"]
    (tmp_path / "gold_loads.py").write_text(declared, encoding="utf-8")
    monkeypatch.setattr(rows, "__path__", [*rows.__path__, str(tmp_path)])
    row_class = import_module("kafka_hindsight.catalog.rows.gold_loads").CoordinatorLoad
    table = row_class.TABLE
    page = ModuleType("kafka_hindsight.judgements.rebuild.coordination")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    monkeypatch.setattr(rows, row_class.__name__, row_class, raising=False)
    monkeypatch.setitem(rows.ROW_CLASS, table.full_name, row_class)
    monkeypatch.setitem(sources.BY_NAME, table.full_name, table)
    assert set(rows.tables_of("gold")) - set(gold.TABLES) == {table}
    added = run(wired, run(judged, vars(page)))
    every = [*published.declared(), added["COORDINATION"]]
    monkeypatch.setattr(published, "declared", lambda: every)
    filled = published.published()
    assert filled.keys() - published.PUBLISHED.keys() == {table.full_name}
    source = filled[table.full_name]
    assert source.judgement is not None
    assert (source.judgement.name, source.output) == ("coordination", "loads")
    names = [j.name for j in sources.check_published({table.full_name: source}, [table.full_name])]
    assert names[-1] == "coordination"
    assert "groups" in names
    run(tested, added)
    assert {e.name for e in expectations_of(table)} >= {"columns_match", "key_unique", "groups_rebalanced"}
    assert "NOT NULL" in columns_ddl(table)
    assert "delta.constraints.groups_rebalanced" in properties(table)
    assert table.grain in docs.tables_page([table], {table.full_name: "publish"})


def test_the_source_lands_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, tested = sections()["A source"]
    monkeypatch.setitem(sys.modules, GIVEN["__name__"], ModuleType(GIVEN["__name__"]))
    run(tested, run(declared, dict(GIVEN)))


def test_a_module_among_the_sections_is_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared, tested = sections()["A section of the report"]
    run(tested, run(declared, dict(GIVEN)))
    (tmp_path / "coordinators.py").write_text(declared, encoding="utf-8")
    monkeypatch.setattr(report_sections, "__path__", [*report_sections.__path__, str(tmp_path)])
    monkeypatch.setattr(report_build, "SECTIONS", report_sections.discovered())
    page = report_build.report_of(PageRows.from_tables(*night()))
    (titles,) = ([section.title for section in view.sections] for view in page.views if view.name == "cluster")
    after = titles.index("Who coordinated")
    assert titles[after - 1 : after + 2] == ["Broker outages", "Who coordinated", "Changes of leaders"]


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


@each_page
def test_every_variable_that_a_page_names_is_read(name: str) -> None:
    named = set(re.findall(r"\bHINDSIGHT_[A-Z_]*[A-Z]\b", PAGES[name]))
    assert {v for v in named if not v.startswith(RECEIVERS)} <= VARIABLES


@each_page
def test_every_target_and_verb_that_a_page_names_exists(name: str) -> None:
    shown = [*re.findall(r"^    .*$", PAGES[name], flags=re.MULTILINE), *re.findall(r"`[^`\n]+`", PAGES[name])]
    text = "\n".join(shown)
    assert set(re.findall(r"(?:^\s*|`)make ([a-z][a-z0-9-]*)", text, flags=re.MULTILINE)) <= TARGETS
    assert set(re.findall(r"(?:^\s*|`|&& )(?:\./)?hindsight ([a-z]+)", text, flags=re.MULTILINE)) <= VERBS


@each_page
def test_every_named_query_that_a_page_asks_for_exists(name: str) -> None:
    asked = set(re.findall(r"""\bQ=["']?([a-z_]+)(?=["'\s`]|$)""", PAGES[name], flags=re.MULTILINE))
    assert asked - {"select"} <= set(named_queries())


def named_paths(page: str) -> Iterator[str]:
    """Files and folders of ours that a page names, also with a star in them."""
    folders = "kafka_hindsight|spark_jobs|tests|docs|dags|plugins|setup|locks|queries|expectations|lab|tools|samples"
    for path in re.findall(rf"`((?:{folders})/[\w./*-]*)`", page):
        yield path.rstrip(".")


@each_page
def test_every_path_that_a_page_names_exists(name: str) -> None:
    missing = [p for p in named_paths(PAGES[name]) if not list(HOME.glob(p.rstrip("/")))]
    assert missing == []


@each_page
def test_every_link_to_a_page_of_ours_leads_there(name: str) -> None:
    folder = HOME if name == "README.md" else DOCS
    for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)", PAGES[name]):
        page = folder / (target or name)
        assert page.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
            known = {re.sub(r"[^a-z0-9_ -]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in known, f"{target}#{anchor}"


# --- shipping and installing --------------------------------------------------------------------------------------


def test_every_configuration_of_a_shipper_parses_and_changes_no_line() -> None:
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


@pytest.mark.parametrize("file", ["server.log", "server.log.2026-11-20-23", "kafka.log", "app.log", "a/app.log.1.gz"])
def test_what_pages_call_logs_is_read(file: str) -> None:
    assert _is_log(file, None)


@pytest.mark.parametrize(
    "file", [".server.log.Xa81Bc", "kafkaServer-gc.log", "00000000000000000000.log", "server.ndjson"]
)
def test_what_pages_call_no_logs_is_not_read(file: str) -> None:
    assert not _is_log(file, None)


@pytest.mark.parametrize("folder", ["broker-3", "kafka_3", "prod-kafka-3", "controller-3", "kafka-3/var/log/kafka"])
def test_the_folders_on_the_page_name_their_broker(folder: str) -> None:
    assert reading.broker_of_folder(f"{folder}/server.log") == 3


def told(folder: Path) -> Counter[tuple[int | None, str, str]]:
    """What the logs of a folder say: who, when, what."""
    events, _ = plain_reader.read_logs(folder, "broker", "orders")
    return Counter((e.broker, e.kind, str(e.happened_at)) for e in events)


@pytest.mark.parametrize("night", ["crash-2.8", "pause-4.1"])
def test_one_file_with_all_loggers_of_a_broker_tells_what_its_logs_tell(night: str, tmp_path: Path) -> None:
    for folder in (f for f in sorted((EXCERPTS / night).iterdir()) if f.is_dir()):
        lines = [line for log in sorted(folder.glob("*.log")) for line in log.read_text().splitlines(keepends=True)]
        (tmp_path / folder.name).mkdir()
        (tmp_path / folder.name / "kafka.log").write_text("".join(sorted(lines, key=lambda line: line[:25])))
    assert told(tmp_path) == told(EXCERPTS / night) != Counter()


@pytest.mark.parametrize("before", ["2026-11-21T01:52:24Z ", "[pod/kafka-0/kafka] ", "2026-11-21T01:52:24Z stdout F "])
def test_a_line_with_something_before_its_head_tells_nothing(before: str, tmp_path: Path) -> None:
    folder = next(f for f in sorted((EXCERPTS / "crash-2.8").iterdir()) if f.is_dir())
    (tmp_path / folder.name).mkdir()
    for log in folder.glob("*.log"):
        shipped = "".join(before + line for line in log.read_text().splitlines(keepends=True))
        (tmp_path / folder.name / log.name).write_text(shipped)
    assert told(tmp_path) == Counter()


def test_versions_and_jars_on_the_page_are_those_that_are_locked() -> None:
    page = PAGES["install.md"]
    locked = (HOME / "locks" / "jars.sha256").read_text().split()
    assert set(re.findall(r"\.jars/([\w.-]+\.jar)", page)) == {n for n in locked if n.endswith(".jar")}
    (spark,) = re.findall(r"^pyspark==(\S+)", (HOME / "locks" / "spark.txt").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"Spark (\d+\.\d+\.\d+)", page)) == {spark}
    airflow = (HOME / "locks" / "airflow.txt").read_text()
    (told,) = re.findall(r"Airflow (\d+\.\d+) with the provider apache-spark (\d+\.\d+)", page)
    assert f"\napache-airflow=={told[0]}." in f"\n{airflow}"
    assert f"apache-airflow-providers-apache-spark=={told[1]}." in airflow


def test_the_runbook_has_every_rule_cause_and_kind() -> None:
    page = docs.pages()["runbook.md"]
    assert all(f"[{r.rule_id}](rules.md#{r.rule_id})" in page for r in RULES)
    assert all(f"[{code}](causes.md#{code})" in page for code in Cause)
    assert tuple(FAILOVER_ADVICE) == tuple(FailoverKind)
    assert set(OUT_OF_SYNC_ADVICE) == set(OutOfSyncKind)
    assert set(IMBALANCE_ADVICE) == {None, *ImbalanceEnd}


def test_the_index_of_decisions_lists_each_with_its_title() -> None:
    index = (DOCS / "adr" / "README.md").read_text(encoding="utf-8")
    for page in sorted((DOCS / "adr").glob("[0-9]*.md")):
        number, title = re.match(r"# (\d+)\. (.*)", page.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]
        assert int(number) == int(page.name[:4])
        assert f"| {number} | [{title}]({page.name}) |" in index
