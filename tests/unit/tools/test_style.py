"""The check of our English finds each turn that docs/style.md does not allow, and passes clean text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import style

TURNS = style.turns(style.RULES.read_text(encoding="utf-8"))

EXAMPLES = [
    ("a statement that is no reading one", "is no "),
    ("Nobody tells who led", "Nobody"),
    ("as far as anybody knows", "anybody"),
    ("no line tells it", "no line tells"),
    ("the log tells why", "tells"),
    ("told by the controller", "told"),
    ("a rebalance owed to it", "owed to"),
    ("drawn anew", "anew"),
    ("whom it followed", "whom"),
    ("each row, be it old", "be it"),
    ("names parted by commas", "parted by"),
    ("Odd: an empty list", "Odd:"),
    ("no line in sight", "sight"),
    ("the kinship of rows", "kinship"),
    ("a gap untold", "untold"),
    ("Controller 2 took office", "took office"),
    ("a broker that is missed by its controller", "is missed by"),
    ("spells of imbalance", "spells"),
    ("what healed it", "healed"),
    ("a rehearsal of a loss", "rehearsal"),
    ("the drill knows it", "the drill knows"),
]

CLEAN = (
    "There is no leader. It is no longer known. They are no more than two. What tells apart two members is spelled out."
    " A foretold spell out of place is not a turn: see the insight below."
)


def checked(folder: Path, name: str, text: str) -> list[str]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return list(style.check(file, TURNS))


@pytest.mark.parametrize(("text", "words"), EXAMPLES, ids=[words for _, words in EXAMPLES])
def test_turn_is_reported_with_its_replacement(tmp_path: Path, text: str, words: str) -> None:
    sentences = checked(tmp_path, "page.md", f"# A page\n\n{text}\n")
    assert any(s.startswith(f'{tmp_path}/page.md:3: "{words.strip()}') and " -> " in s for s in sentences)


def test_each_turn_of_the_style_page_has_an_example_here() -> None:
    untried = [t.pattern.pattern for t in TURNS if not any(t.pattern.search(text) for text, _ in EXAMPLES)]
    assert TURNS
    assert untried == []


@pytest.mark.parametrize("name", ["page.md", "page.html", "query.sql", "module.py"])
def test_clean_text_passes(tmp_path: Path, name: str) -> None:
    text = {"query.sql": f"-- {CLEAN}\nSELECT 1", "module.py": f'"""{CLEAN}"""\n'}.get(name, CLEAN)
    assert checked(tmp_path, name, text) == []


def test_turn_across_lines_is_reported_at_its_first_line(tmp_path: Path) -> None:
    assert [s.rsplit(":", 2)[1].split(" ")[0] for s in checked(tmp_path, "a.md", "It is\nno leader.")] == ["1"]
    (sentence,) = checked(tmp_path, "a.sql", "SELECT 1;\n-- A row is\n-- no leader.\n")
    assert sentence.startswith(f"{tmp_path}/a.sql:2: ")


def test_quoted_code_and_patterns_are_not_checked(tmp_path: Path) -> None:
    assert checked(tmp_path, "a.md", "Not `nobody tells`.\n\n```text\nnobody tells\n```\n") == []
    assert checked(tmp_path, "a.html", "{% if told is no %}<p class='a told b'>fine</p>{% endif %}") == []
    assert (
        checked(tmp_path, "a.py", 'P = Pattern(regex="nobody tells", loggers=("it is no leader",))\nd["told"]\n') == []
    )


def test_strings_docstrings_and_f_strings_of_python_are_checked(tmp_path: Path) -> None:
    text = 'def f(x):\n    """Fine.\n\n    Odd: never.\n    """\n    return f"{x} is no leader" "; nobody led"\n'
    assert [s.partition('"')[2].partition('"')[0] for s in checked(tmp_path, "a.py", text)] == [
        "Odd:",
        "is no",
        "nobody",
    ]
    assert checked(tmp_path, "a.py", text)[0].startswith(f"{tmp_path}/a.py:4: ")


def test_style_command_ends_with_1_where_it_finds_a_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.md").write_text("Nobody knows.")
    assert style.main([str(tmp_path)]) == 1
    assert 'a.md:1: "Nobody"' in capsys.readouterr().out
    (tmp_path / "a.md").write_text("The leader is unknown.")
    assert style.main([str(tmp_path)]) == 0
