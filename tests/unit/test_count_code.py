"""What the closing note of a restructuring counts, on small sources."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tools import count_code
from tools.count_code import (
    MOST_BRANCHES,
    MOST_LINES,
    Source,
    branched_functions,
    branches,
    branches_as_reviewed,
    lines_of_logic,
    lines_without_verdicts,
    long_file,
    string_subscripts,
    verdict_sites,
)


def source(text: str, path: str = "kafka_hindsight/judgements/a.py") -> Source:
    return Source(Path(path), dedent(text).lstrip("\n"))


def test_a_subscript_counts_where_a_text_stands_in_it() -> None:
    assert string_subscripts(source('row["a"]["b"] = row[name] + row[0] + row.a + f(row["c"])')) == [1, 1, 1]
    assert string_subscripts(source('list["Row"]\nrow[f"{a}"]')) == [1]


def test_a_verdict_counts_outside_of_a_table_of_rulings() -> None:
    text = 'Verdict("a")\nmodel.Verdict("b")\n_Why("c")\nx = Verdict\nOther("d")'
    assert verdict_sites(source(text)) == [1, 2, 3]
    assert verdict_sites(source(text, "kafka_hindsight/knowledge/causes/rulings.py")) == []
    assert verdict_sites(source(text, "kafka_hindsight/knowledge/rulings_of_members/a.py")) == []
    assert verdict_sites(source(text, "kafka_hindsight/judgements/overrulings.py")) == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "expected", "as_reviewed"),
    [
        ("pass", 0, 0),
        ("if a: pass\nelif b: pass\nelse: pass", 2, 2),
        ("x = 1 if a else 2", 1, 1),
        ("x = a and b and c", 2, 3),
        ("x = a and (b or c)", 2, 4),
        ("for x in y: pass\nwhile x: pass", 2, 2),
        ("x = [a for a in b if a if c]", 3, 1),
        ("try: pass\nexcept A: pass\nexcept B: pass", 2, 2),
        ("match a:\n    case 1: pass\n    case _: pass", 2, 2),
        ("return a", 0, 1),
        ("def g():\n    if a: pass", 1, 1),
    ],
)
def test_branches_and_boolean_operators(body: str, expected: int, as_reviewed: int) -> None:
    (function, *_) = (n for n in source("def f():\n" + "\n".join(f"    {b}" for b in body.split("\n"))).nodes[1:])
    assert (branches(function), branches_as_reviewed(function)) == (expected, as_reviewed)


def test_a_function_counts_above_the_bound_and_not_at_it() -> None:
    def body(operators: int) -> str:
        return f"    return {' or '.join('x' * (operators + 1))}\n"

    text = f"def f():\n{body(MOST_BRANCHES)}\n\nasync def g():\n{body(MOST_BRANCHES + 1)}"
    assert branched_functions(source(text), branches) == [5]


def test_lines_of_logic_are_neither_blank_nor_comment_nor_docstring_nor_sample() -> None:
    text = '''
        """A module
        in words."""

        # Why.
        import re  #+

        LIMIT = 5  #+
        """What it is."""

        TEXT = """  #+
        these  #+

        count  #+
        """  #+

        def f(  #+
            a,  #+
        ):  #+
            """In words."""
            return a  #+

        PATTERN = Pattern(  #+
            regex="x",  #+
            samples=(
                "a captured line",
            ),
        )  #+
        '''
    read = source(text)
    assert lines_of_logic(read) == [n for n, line in enumerate(read.text.splitlines(), 1) if "#+" in line]


def test_the_declaration_of_a_verdict_is_data() -> None:
    text = """
        HOW = "{who} left."  #+
        RULINGS = (  #+
            Ruling(Cause.MEMBER_LEFT, CERTAIN,
                   "{who} left.",
                   proof=(left,), decides="a 1", looks_alike="b 2"),
        )  #+
        """
    read = source(text)
    assert lines_without_verdicts(read) == [n for n, line in enumerate(read.text.splitlines(), 1) if "#+" in line]


def test_a_file_is_long_above_the_bound() -> None:
    assert long_file(source("x = 1\n" * MOST_LINES)) == []
    assert long_file(source("x = 1\n" * (MOST_LINES + 1))) == [MOST_LINES + 1]


class TestTable:
    """The command, on checkouts that lie on disk."""

    @pytest.fixture()
    def checkouts(self, tmp_path: Path) -> list[str]:
        files = {
            "before/kafka_hindsight/judgements/a.py": 'def f(row):\n    return Verdict(row["cause"])\n',
            "before/kafka_hindsight/report/b.py": 'x = row["a"]\n',
            "before/kafka_hindsight/spark/c.py": 'x = row["a"]\n',
            "before/tests/unit/test_d.py": 'x = row["a"]\n' * 401,
            "after/kafka_hindsight/judgements/a.py": "def f(row):\n    return judged(row.cause)\n",
        }
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [str(tmp_path / "before"), str(tmp_path / "after")]

    def test_it_has_a_column_for_each(self, checkouts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert count_code.main(checkouts) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head.split() == ["before", "after"]
        figures = {line.rsplit(maxsplit=2)[0].strip(): line.split()[-2:] for line in lines}
        assert figures["string subscripts, judgements and report"] == ["2", "0"]
        assert figures["string subscripts, the product"] == ["3", "0"]
        assert figures["verdicts written outside tables of rulings"] == ["1", "0"]
        assert figures["lines of logic, judgements and report"] == ["3", "2"]
        assert figures["without the declarations of verdicts"] == ["2", "2"]
        assert figures["lines of logic, the product without samples"] == ["4", "2"]
        assert figures["Python files above 400 lines"] == ["1", "0"]

    def test_the_list_names_where(self, checkouts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert count_code.main(["--list", checkouts[0]]) == 0
        said = capsys.readouterr().out
        assert "    kafka_hindsight/judgements/a.py:2\n" in said
        assert "    tests/unit/test_d.py:401\n" in said

    def test_the_check_says_what_to_do(self, checkouts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert count_code.main(["--check", checkouts[0]]) == 1
        assert capsys.readouterr().out.splitlines() == [
            "kafka_hindsight/judgements/a.py:2: found one of: verdicts written outside tables of rulings. Needed: none."
            " Write a ruling in a module whose name ends with _rulings.",
            "tests/unit/test_d.py:401: found one of: Python files above 400 lines. Needed: none."
            " Split the module by subject.",
        ]

    def test_the_check_is_silent_where_all_is_well(
        self, checkouts: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert count_code.main(["--check", checkouts[1]]) == 0
        assert capsys.readouterr().out == ""

    def test_another_folder_is_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert count_code.main([str(tmp_path)]) == 2
        assert capsys.readouterr().err == f"Found no kafka_hindsight in {tmp_path}. Needed: checkouts of the project.\n"
