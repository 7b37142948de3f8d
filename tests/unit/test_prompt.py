"""The prompt's editor: what Tab offers where, and a history of whole statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.sql.line_editor import (
    MAX_HISTORY,
    Editor,
    Words,
    binding,
    completions,
    read_history,
    write_history,
)

WORDS = Words(
    commands={".describe": ("gold.failovers", "gold.rebalances"), ".tables": (), ".run": ("storms",), "\\q": ()},
    tables={
        "gold.failovers": ("topic", "partition", "leader_to"),
        "gold.rebalances": ("group_id", "cause"),
        "now.groups": ("group_id", "state"),
    },
    queries={"storms": ("group_id",), "leader_timeline": ("topic", "partition")},
)


def offered(line: str) -> list[str]:
    """What Tab offers where `|` stands; the word before it reaches back to a blank or another delimiter."""
    text, _, after = line.partition("|")
    begin = max((text.rfind(c) for c in " \n(,='"), default=-1) + 1
    return completions(text[:begin], text[begin:], after, WORDS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (".d|", [".describe"]),
        ("\\|", ["\\q"]),
        (".describe gold.r|", ["gold.rebalances"]),
        (".describe gold.rebalances g|", []),
        (".tables g|", []),
        (".run s|", ["storms"]),
        (".run storms |", ["group_id="]),
        ("l|", ["leader_timeline"]),
        ("S|", ["SELECT", "SET VARIABLE", "SUMMARIZE", "storms"]),
        ("leader_timeline t|", ["topic="]),
        ("leader_timeline topic=t partition=|", []),
        ("from |", ["gold.failovers", "gold.rebalances", "now.groups"]),
        ("SELECT * FROM gold.f|", ["gold.failovers"]),
        ("SELECT *\nFROM gold.failovers\nLEFT JOIN now|", ["now.groups"]),
        ("SELECT st|", ["state"]),
        ("SELECT le| FROM gold.failovers", ["leader_to", "left join"]),
        ("SELECT gr| FROM gold.failovers", ["group by"]),
        ("SELECT f.l|, 1 FROM gold.failovers AS f", ["f.leader_to"]),
        ("SELECT 1 FROM gold.failovers f JOIN gold.rebalances r ON r.|", ["r.cause", "r.group_id"]),
        ("SELECT 1 FROM gold.rebalances WHERE rebalances.c|", ["rebalances.cause"]),
        ("SELECT 1 FROM gold.rebalances WHERE CAU|", ["cause"]),
        ("SELECT 1 FROM gold.rebalances WHERE cause = 'c|", []),
        ("SELECT 1 FROM gold.rebalances GRO|", ["GROUP BY", "group_id"]),
        ("SELECT 1 FROM gold.rebalances WHERE true AND wh|", ["when", "where"]),
        ("SELECT 1 FROM gold.nothing WHERE lea|", ["leader_to"]),
    ],
)
def test_what_tab_offers(line: str, expected: list[str]) -> None:
    assert offered(line) == expected


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("Importing this module enables command line editing using GNU readline.", "tab: complete"),
        ("Importing this module enables command line editing using libedit readline.", "bind ^I rl_complete"),
    ],
)
def test_tab_is_bound_in_the_words_of_either_library(said: str, bound: str) -> None:
    assert binding(said) == bound


def test_the_history_keeps_statements_whole_and_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "history"
    assert read_history(path) == []
    statements = ["SELECT 1 -- one\n  + 2;", ".tables", "SELECT '\u2028é';"]
    write_history(path, statements)
    assert read_history(path) == statements
    write_history(path, [*statements, *(f"SELECT {n};" for n in range(MAX_HISTORY))])
    assert read_history(path) == [f"SELECT {n};" for n in range(MAX_HISTORY)]


def test_a_history_of_another_making_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text('SELECT 1;\n{"a": 1}\n12\n"SELECT 2;"\n')
    assert read_history(path) == ["SELECT 2;"]


def test_the_same_statement_twice_is_kept_once() -> None:
    editor = Editor(WORDS, None)
    for statement in ("SELECT 1;\n", "SELECT 1;", ".tables\n", "SELECT 1;"):
        editor.keep(statement)
    assert editor.kept == ["SELECT 1;", ".tables", "SELECT 1;"]
