"""Each example of the pages that people write is read by the program that it is for, or stands here with a reason.

What is in a fence is run by the test of its page: BLOCKS says how many there are, and which test that is. Commands of
Airflow are read in tests/dags.
"""

from __future__ import annotations

import importlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from kafka_hindsight.kafka.connection import Connection, properties_of
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.sql.named_queries import named_queries, named_question
from tests.support.command_line import understood
from tests.support.docs import PAGES, examples

MAKEFILE = (HOME / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, flags=re.MULTILINE))
(TOLD,) = re.findall(r"^INPUTS := (.*?)(?<!\\)$", MAKEFILE, flags=re.MULTILINE | re.DOTALL)
SERVICES = yaml.safe_load((HOME / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
PROFILES = {"*", *(profile for service in SERVICES.values() for profile in service.get("profiles", ()))}

BLOCKS: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "README.md": {},
    "agents.md": {"json": (1, "tests/audit/test_agents_page.py")},
    "api.md": {"python": (6, "tests/unit/package/test_api.py")},
    "design.md": {"": (2, "drawings of folders")},
    "expectations.md": {"json": (1, "tests/store/test_publish.py"), "": (1, "tests/store/test_publish.py")},
    "extending.md": {
        "python": (18, "tests/unit/docs/test_recipes.py"),
        "jsonl": (2, "tests/unit/docs/test_recipes.py"),
    },
    "kubernetes.md": {"yaml": (1, "tests/airflows/beside_providers.py")},
    "managed.md": {"python": (1, "tests/dags/test_airflow_package.py loads it by the wheel")},
    "messages.md": {
        "toml": (1, "tests/audit/test_messages.py"),
        "text": (2, "tests/audit/test_messages.py"),
        "json": (2, "tests/audit/test_messages.py"),
    },
    "numbers.md": {"mermaid": (1, "tests/audit/test_numbers.py")},
    "operations.md": {
        "toml": (5, "tests/unit/docs/test_operations_page.py"),
        "python": (1, "tests/dags/test_hindsight_dags.py"),
    },
    "shipping_logs.md": {
        "yaml": (4, "tests/unit/docs/test_docs_examples.py"),
        "text": (1, "Logstash is in no registry that Python or Java programs come from"),
    },
    "speed.md": {"": (1, "what the bench of three workers printed")},
    "sources.md": {
        "toml": (3, "tests/unit/sources/test_log_sources.py"),
        "sh": (1, "elasticdump needs a server of Elasticsearch, which no registry here carries"),
    },
    "spark.md": {"": (2, "tests/spark/test_rebuild_timelines.py reads such plans; the other was the plan before")},
    "sql.md": {
        "python": (7, "tests/store/test_sql_page.py"),
        "sql": (4, "tests/store/test_sql_page.py and tests/s3; the last one is Trino's"),
        "json": (1, "Superset's, typed into a form"),
        "properties": (1, "Trino's, by its manual"),
    },
}
"""How many blocks of each language a page has, and what runs them or why nothing does."""


def hindsight(words: str) -> None:
    verb, *rest = [re.sub(r"\$\([^)]*\)", "X", word) for word in shlex.split(re.split(r" [<>] ", words)[0])]
    understood(verb, *rest)
    if verb == "sql" and rest and not rest[0].startswith("-") and rest[0].split()[0].lower() != "select":
        assert named_question(rest[0], named_queries())


def make(words: str) -> None:
    target, *given = shlex.split(words)
    values = dict(word.split("=", 1) for word in given)
    assert target in TARGETS
    assert values.keys() <= set(TOLD.replace("\\\n", " ").split())


def compose(words: str) -> None:
    verb = re.sub(r"--profile (\S+)", lambda match: f"profile={shlex.split(match[1])[0]}", words).split()
    named = [word.removeprefix("profile=") for word in verb if word.startswith("profile=")]
    assert {*named} <= PROFILES
    if verb[0] == "exec":
        assert verb[1] in SERVICES and verb[2] == "./hindsight"
        hindsight(" ".join(verb[3:]))


def variables(words: str) -> None:
    for name, _, value in (word.partition("=") for word in shlex.split(words)):
        if name.startswith("AIRFLOW_CONN_"):
            assert json.loads(value)["conn_type"] == "spark"
        if name == "HINDSIGHT_SPARK_CONF":
            assert all(re.fullmatch(r"spark\.[\w.]+=[^;]*", pair) for pair in value.split(";"))


def module(words: str) -> None:
    assert callable(importlib.import_module(words.split()[0]).main)


READ: Mapping[str, Callable[[str], None]] = {
    r"(?:[\d*/ ]+ cd \S+ && )?(?:\./|hindsight/bin/)?hindsight (.+)": hindsight,
    r"make (.+)": make,
    r"docker compose (.+)": compose,
    r"(?:export )?([A-Z_]+=\S.*)": variables,
    r"(?:PYTHONPATH=\. )?\.venv-spark/bin/python -m (.+)": module,
}
ELSEWHERE_READ = {
    r"airflow .+": "tests/dags/test_docs_commands.py",
    r"kafka-acls\.sh .+": "tests/live/test_snapshot_access.py gives a user these rights and no others",
    r"[a-z.]+=.+": "the last test of this file",
    r"/opt/spark/sbin/start-thriftserver\.sh .+": "Spark's own server, by its manual",
    r"python3 -m venv .+": "tests/audit/test_sample_night.py installs the wheel and audits with it",
    r"/mnt/.+ <- .+": "a drawing of folders",
    r"cp -r .+": "a copy; tests/store/test_metadata_files.py reads one",
    r"[\d*/ ]+ rsync .+": "needs another host",
    r"(?:for n in|done).*": "needs Kubernetes; what kubectl prints is read by tests/unit/logs/test_envelopes.py",
    r"(?:kubectl|helm) .+": "needs Kubernetes; tests/airflows makes the pod of a step from its file",
    r"docker build .+": "needs Docker; tests/unit/docker/test_compose.py holds the image's file against what it runs",
    r"python -m build .+": "tests/dags/test_airflow_package.py builds the same wheel",
    r"python3\.11 -m venv .+": "a standalone Spark was given such an archive by hand",
    r"pip install (?:venv-pack|\"kafka_hindsight_airflow).*": "needs a cluster, or an Airflow elsewhere",
    r"pip install 'kafka_hindsight-\S+\.whl\[mcp\]'": "an extra; tests/audit/test_answers.py runs what it installs",
    r"gcloud .+": "needs Google Cloud",
    r"(?:\./include/|apache-airflow-providers-).+": "lines of requirements.txt",
    r"CREATE TABLE .+": "Databricks's",
}
"""What something else reads, or nothing, and why."""


WRITTEN = sorted(name for name, text in PAGES.items() if "\n> Generated by `" not in text)
"""The pages that people write."""


@pytest.mark.parametrize("name", WRITTEN)
def test_every_command_on_page_is_valid(name: str) -> None:
    for line in examples(PAGES[name]):
        read = [(match[1], check) for pattern, check in READ.items() if (match := re.fullmatch(pattern, line))]
        for words, check in read[:1]:
            check(words)
        assert read or any(re.fullmatch(pattern, line) for pattern in ELSEWHERE_READ), line


def test_every_listed_command_form_is_on_a_page() -> None:
    lines = [line for name in WRITTEN for line in examples(PAGES[name])]
    assert [p for p in (*READ, *ELSEWHERE_READ) if not any(re.fullmatch(p, line) for line in lines)] == []


@pytest.mark.parametrize("name", WRITTEN)
def test_every_code_block_on_page_is_listed_with_its_test(name: str) -> None:
    fences = re.findall(r"^```(\w*)\n.*?^```$", PAGES[name], flags=re.MULTILINE | re.DOTALL)
    assert Counter(fences) == {language: count for language, (count, _) in BLOCKS.get(name, {}).items()}


def test_live_page_connection_settings_are_read(tmp_path: Path) -> None:
    settings_lines = [line for line in examples(PAGES["live.md"]) if re.fullmatch(r"[a-z.]+=.+", line)]
    file = tmp_path / "kafka.properties"
    file.write_text("\n".join(settings_lines))
    settings = Connection.of("the page", properties_of(str(file))).settings
    assert settings["sasl.mechanism"] == "SCRAM-SHA-512"
