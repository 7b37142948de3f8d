"""The lines in bodies of functions, verdicts outside of rulings, and late constants, on a small checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import count_code, late_constants, stray_verdicts
from tools.count_code import count_bodies, lines_in_bodies

FILES = {
    "kafka_hindsight/__init__.py": "x = 1\n",
    "kafka_hindsight/judgements/a.py": "\nVerdict('a')\nmodel.Verdict('b')\nOther('c')\n",
    "kafka_hindsight/judgements/causes/a_rulings.py": "Verdict('a')\n",
    "kafka_hindsight/judgements/rulings/a.py": "Verdict('a')\n",
    "kafka_hindsight/report/a.py": "def f():\n    return 1\n",
    "spark_jobs/a.py": "def f(): return 1\n",
}
FUNCTIONS = '''"""A module."""

DATA = (
    1,
)


@cache
def outer(
    name: str,
) -> int:
    """One line.

    Another.
    """
    # A comment.
    text = """
    a

    b"""

    def inner() -> int:
        """Of its own."""
        return 1

    return inner()


class Room:
    """A class."""

    size: int = 1

    async def grow(self) -> None:
        self.size += 1

    def empty(self) -> None:
        """Nothing."""
'''

CONSTANTS = """
def look(times: int = 3) -> int:
    return LOOKS + TABLE[0]() + ALL[0]() + EARLY


EARLY: int = 1
LOOKS = 3
TABLE = (look,)
ALL = (*TABLE,)
Kind: TypeAlias = "int | Room"
UNUSED = 4


class Room:
    kind: Kind
"""


@pytest.fixture()
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_body_has_no_signature_docstring_and_blank_line() -> None:
    outer = ["text = ", "a", "b", "def inner", "return 1", "return inner()"]
    grow = ["self.size += 1"]
    assert lines_in_bodies(FUNCTIONS) == len(outer + grow)


def test_bodies_are_counted_by_room_and_never_fail(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert +count_bodies(checkout) == {"kafka_hindsight/report": 1, "spark_jobs": 1}
    assert count_code.main(checkout) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:6] == ["bodies", "of", "functions", "in", "all", "2"]


def test_verdict_outside_rulings_is_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert stray_verdicts.main(checkout) == 1
    assert [line.split(": found")[0] for line in capsys.readouterr().out.splitlines()] == [
        "kafka_hindsight/judgements/a.py:2",
        "kafka_hindsight/judgements/a.py:3",
    ]
    (checkout / "kafka_hindsight/judgements/a.py").write_text("x = 1\n")
    assert stray_verdicts.main(checkout) == 0
    assert capsys.readouterr().out == ""


def test_constant_below_its_use_is_named_unless_it_names_functions(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert late_constants.main(checkout) == 0
    assert capsys.readouterr().out == ""
    (checkout / "spark_jobs/a.py").write_text(CONSTANTS)
    assert late_constants.main(checkout) == 1
    assert [line.split(" below")[0] for line in capsys.readouterr().out.splitlines()] == [
        "spark_jobs/a.py:6: found the constant EARLY",
        "spark_jobs/a.py:7: found the constant LOOKS",
    ]
