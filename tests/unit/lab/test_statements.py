"""Which log statements of Kafka's released jars are read, on classes as javap prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import statements
from lab.statements import LogStatement, is_read, logged_in, main, page_of

LOGGER = "getfield #7 // Field log:Lorg/slf4j/Logger;"
INFO = "invokeinterface #15, 2 // InterfaceMethod org/slf4j/Logger.info:(Ljava/lang/String;)V"
APPEND = "invokevirtual #9 // Method java/lang/StringBuilder.append:(Ljava/lang/String;)Ljava/lang/StringBuilder;"
BUILDER = 'invokespecial #8 // Method java/lang/StringBuilder."<init>":()V'
CONCAT = "invokedynamic #46, 0 // InvokeDynamic #1:makeConcatWithConstants:(I)Ljava/lang/String;"
LAMBDA = "invokedynamic #64, 0 // InvokeDynamic #0:apply:(I)Lscala/Function0;"
THROWABLE = "invokedynamic #64, 0 // InvokeDynamic #2:apply:(I)Lscala/Function0;"
BOOTSTRAP = """BootstrapMethods:
  0: #84 REF_invokeStatic java/lang/invoke/LambdaMetafactory.metafactory:()V
    Method arguments:
      #86 ()Ljava/lang/Object;
      #88 REF_invokeStatic kafka/log/LogManager.$anonfun$load$1:(I)Ljava/lang/String;
      #89 ()Ljava/lang/String;
  1: #84 REF_invokeStatic java/lang/invoke/StringConcatFactory.makeConcatWithConstants:()V
    Method arguments:
      #90 Loaded \\u0001, left: \\u0001
  2: #84 REF_invokeStatic java/lang/invoke/LambdaMetafactory.metafactory:()V
    Method arguments:
      #86 ()Ljava/lang/Object;
      #88 REF_invokeStatic kafka/log/LogManager.$anonfun$load$2:(I)Ljava/lang/Throwable;
      #89 ()Ljava/lang/Throwable;
"""


def printed(*methods: tuple[str, ...], path: str = "kafka/log/LogManager") -> str:
    """A class as javap prints it: a name and instructions for each method."""
    text = f"jar:file:/kafka.jar\n  this_class: #1                          // {path}\n{{"
    for name, *instructions in methods:
        text += f"\n  void {name}(int);\n    descriptor: (I)V\n    Code:\n"
        text += "".join(f"        {at}: {does}\n" for at, does in enumerate(instructions))
    return f"{text}}}\n{BOOTSTRAP}"


def string(text: str) -> str:
    return f"ldc #13 // String {text}"


@pytest.mark.parametrize(
    ("instructions", "text"),
    [
        ((LOGGER, string("Loaded all of it"), INFO), "Loaded all of it"),
        ((LOGGER, string("Left {} of {}."), string("a value that has more words"), INFO), "Left <> of <>."),
        ((LOGGER, string("a"), CONCAT, INFO), "Loaded <>, left: <>"),
        (
            (LOGGER, BUILDER, string("Loaded "), APPEND, "aload_1", APPEND, string(" now"), APPEND, INFO),
            "Loaded <> now",
        ),
        ((LOGGER, string("It has %d of %s"), INFO), "It has <> of <>"),
        ((LOGGER, string("Two lines\\n  of them"), INFO), "Two lines of them"),
    ],
)
def test_statement_is_its_text_with_a_placeholder_for_each_value(instructions: tuple[str, ...], text: str) -> None:
    assert [str(LogStatement(*s)) for s in logged_in(printed(("load", *instructions)))] == [text]


def test_statement_of_scala_is_what_its_lambda_returns() -> None:
    warn = "invokevirtual #3 // Method warn:(Lscala/Function0;Lscala/Function0;)V"
    calls = printed(("load", LAMBDA, THROWABLE, warn), ("$anonfun$load$1", CONCAT), ("$anonfun$load$2",))
    assert [str(LogStatement(*s)) for s in logged_in(calls)] == ["Loaded <>, left: <>"]


def test_blanks_that_javap_leaves_out_are_those_of_the_class_file() -> None:
    """Tags 1 and 5 of a constant pool: a text, and a number that takes two places."""
    texts = [b"Loaded ", b" by"]
    pool = b"".join(b"\1" + len(t).to_bytes(2, "big") + t for t in texts) + b"\5" + bytes(8)
    assert list(statements.texts_in(bytes(8) + b"\0\5" + pool)) == ["Loaded ", " by"]
    method = ("load", LOGGER, BUILDER, string("Loaded"), APPEND, "aload_1", APPEND, string(" by"), APPEND, APPEND, INFO)
    blanks = {"kafka/log/LogManager": {"Loaded": " "}}
    assert [str(LogStatement(*s)) for s in logged_in(printed(method), blanks)] == ["Loaded <> by<>"]


def test_statements_below_info_do_not_count() -> None:
    debug = INFO.replace("info", "debug")
    assert list(logged_in(printed(("load", LOGGER, string("Loaded all of it"), debug)))) == []


def test_statement_is_named_after_its_logger_and_not_its_class() -> None:
    changes = INFO.replace("org/slf4j/Logger", "org/apache/kafka/logger/StateChangeLogger")
    fetches = "kafka/server/AbstractFetcherThread"
    own = ("logger", f"ldc #2 // class {fetches}")
    method = ("run", LOGGER, string("Starting"), INFO)
    assert [s[0] for s in logged_in(printed(("run", LOGGER, string("Starting"), changes)))] == ["state.change.logger"]
    assert [s[0] for s in logged_in(printed(method, path=fetches))] == ["ReplicaFetcherThread"]
    assert [s[0] for s in logged_in(printed(own, method, path=fetches))] == ["AbstractFetcherThread"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("BrokerLifecycleManager", "Successfully registered broker \0 with broker epoch \0", True),
        ("BrokerLifecycleManager", "A broker says \0 what no pattern knows: \0", False),
        ("KafkaServer", "Remaining partitions to move: \0", True),
        ("GroupCoordinator", "Stabilized group \0 generation \0 (\0-\0)", True),
        ("GroupCoordinator", "Stabilised group \0 generation \0", False),
    ],
)
def test_statement_is_read_where_a_pattern_or_noise_matches(name: str, text: str, expected: bool) -> None:
    assert is_read(LogStatement(name, text)) == expected


def test_unread_statements_of_the_newest_are_listed_and_all_are_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "versions.md"
    known, old, new = (
        LogStatement("BrokerLifecycleManager", text)
        for text in ("Transitioning from \0 to \0.", "No pattern knew \0", "No pattern knows \0")
    )
    monkeypatch.setattr(statements, "statements_of", {"jars/9.0": {known, old}, "9.1": {known, old, new}}.__getitem__)
    assert main(["jars/9.0", "9.1", "--page", str(page)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["BrokerLifecycleManager: No pattern knows <>"]
    written = page.read_text().splitlines()
    assert "| 9.0 | 2 | 1 | 50.0% |" in written
    assert "| `BrokerLifecycleManager` | 1 of 2 | 1 of 3 |" in written
    assert "| `BrokerLifecycleManager` | `No pattern knew <>` | 9.0, 9.1 |" in written


def test_page_without_unread_statements_says_so() -> None:
    assert "Each statement is read." in page_of({"9.0": {LogStatement("LogManager", "Loading logs.")}}, frozenset())
