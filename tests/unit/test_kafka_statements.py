"""Which log statements of Kafka's source are read, on small sources."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from tools.kafka_statements import Statement, is_read, main, page_of, sources_of, statements_of

LIFECYCLE = """
    private def register(): Unit = {
      info(s"Successfully registered broker ${nodeId} with broker epoch ${_brokerEpoch}")
      debug(s"not of interest to $nobody")
      warn(s"A broker says ${why.map(_ + "!").getOrElse("")} what no pattern knows: $nodeId")
    }
"""


def texts(name: str, source: str) -> list[str]:
    return [str(s) for s in statements_of(name, dedent(source))]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('info("Loaded all of it")', "Loaded all of it"),
        ('log.info("Left {} and " +\n  "then {}.", a.b(), c)', "Left <> and then <>."),
        ('warn(s"For $topic of ${a.map { x => x }} " +\n  s"at ${b}.")', "For <> of <> at <>."),
        ('info("From %s to %d".format(one, two(3)))', "From <> to <>"),
        ('log.error(String.format("It has %d of %s", a, b), e)', "It has <> of <>"),
        ('info("Given: " + given.mkString(",") + ", left: " + left)', "Given: <>, left: <>"),
        ('info(s"""Two lines\n   |of $them""".stripMargin)', "Two lines of <>"),
    ],
)
def test_statement_is_its_text_with_a_placeholder_for_each_value(call: str, text: str) -> None:
    assert texts("LogManager", call) == [text]


def test_only_statements_of_known_classes_at_info_and_above_count() -> None:
    assert len(texts("BrokerLifecycleManager", LIFECYCLE)) == 2
    assert texts("SomeClassOfNoPattern", LIFECYCLE) == []
    assert (
        texts("LogManager", 'debug("Loaded")\nthis.other.info("Loaded")\ndef info("Loaded")\nlog.info(message)') == []
    )


def test_statement_is_named_after_its_logger_and_not_its_file() -> None:
    changes = 'stateChangeLogger.withControllerEpoch(epoch).info(s"Changed partition $partition")'
    assert [s.name for s in statements_of("ControllerChannelManager", changes)] == ["state.change.logger"]
    assert [s.name for s in statements_of("AbstractFetcherThread", 'info("Starting")')] == ["ReplicaFetcherThread"]
    own = 'log = context.logger(AbstractCoordinator.class); log.info("Starting")'
    assert [s.name for s in statements_of("AbstractCoordinator", own)] == ["AbstractCoordinator"]
    assert [s.name for s in statements_of("AbstractCoordinator", 'log.info("Starting")')] == ["ConsumerCoordinator"]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("BrokerLifecycleManager", LIFECYCLE, [True, False]),
        ("KafkaServer", 'info("Remaining partitions to move: " + left)', [True]),
        ("GroupCoordinator", 'info(s"Stabilized group $group generation $generation ($topic-$of)")', [True]),
        ("GroupCoordinator", 'info(s"Stabilised group $group generation $generation")', [False]),
    ],
)
def test_statement_is_read_where_a_pattern_or_noise_matches(name: str, source: str, expected: list[bool]) -> None:
    assert [is_read(s) for s in statements_of(name, source)] == expected


def test_sources_come_from_a_folder_or_a_git_tag(tmp_path: Path) -> None:
    path = tmp_path / "core/src/main/scala/kafka/server/BrokerLifecycleManager.scala"
    path.parent.mkdir(parents=True)
    path.write_text(LIFECYCLE)
    (tmp_path / "core/src/test/scala/kafka").mkdir(parents=True)
    (tmp_path / "core/src/test/scala/kafka/LogManager.scala").write_text(LIFECYCLE)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "9.9.9"]):
        by = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *by, *command], check=True, capture_output=True)
    expected = [("BrokerLifecycleManager", LIFECYCLE)]
    assert list(sources_of(str(tmp_path))) == expected
    assert list(sources_of(f"{tmp_path}@9.9.9")) == expected


def test_page_names_each_unread_statement_with_its_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "versions.md"
    for version, source in (("9.0", LIFECYCLE), ("9.1", LIFECYCLE.replace("warn(", "trace("))):
        folder = tmp_path / version / "kafka"
        folder.mkdir(parents=True)
        (folder / "BrokerLifecycleManager.scala").write_text(source)
    assert main([str(tmp_path / "9.0"), str(tmp_path / "9.1"), "--list", "--page", str(page)]) == 0
    written = page.read_text().splitlines()
    assert "| 9.0 | 2 | 1 | 50.0% |" in written
    assert "| 9.1 | 1 | 0 | 100.0% |" in written
    assert "| `BrokerLifecycleManager` | 1 of 2 | 1 |" in written
    assert "| `BrokerLifecycleManager` | `A broker says <> what no pattern knows: <>` | 9.0 |" in written
    assert "what no pattern knows" in capsys.readouterr().out


def test_page_without_unread_statements_says_so() -> None:
    assert "Each statement is read." in page_of({"9.0": {Statement("LogManager", "Loading logs.")}}, frozenset())
