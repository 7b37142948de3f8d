"""What counts how names and docstrings read, on a small checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.count_names import PROGRAMS, count, main, python_files

FILES = {
    "kafka_hindsight/a.py": (
        '"""What a module does."""\n'
        "def told(asked, rows):\n"
        '    """Return rows."""\n'
        "    found = asked.led = rows\n"
        "    return found if rows.cause == Cause.MEMBER_LEFT else rows\n"
    ),
    "kafka_hindsight/rulings/b.py": "is_leave = cause in (RebalanceCause.MEMBER_LEFT, other)\n",
    "kafka_hindsight/knowledge/a.py": "leave = cause == Cause.MEMBER_LEFT\n",
    "README.md": "one\ntwo\n",
}


@pytest.fixture()
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_count_lists_places_of_bad_names_and_docstrings(checkout: Path) -> None:
    counts = count(checkout, python_files([checkout / "kafka_hindsight"]))
    assert {title.split()[0]: counted.places for title, counted in counts.items()} == {
        "names": [f"kafka_hindsight/a.py:{at}" for at in ("2: told", "2: asked", "4: found", "4: led")],
        "docstrings": ["kafka_hindsight/a.py:1: What a module does."],
        "causes": ["kafka_hindsight/a.py:5: rows.cause == Cause.MEMBER_LEFT"],
        "file": ["a.py: 2 times"],
    }
    assert {title.split()[0]: counted.total for title, counted in counts.items() if counted.total} == {
        "names": 7,
        "docstrings": 2,
        "file": 3,
    }


def test_counts_are_printed_with_their_share(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(checkout / "kafka_hindsight/rulings")], checkout) == 0
    assert capsys.readouterr().out.splitlines() == [
        "names that are participles: 0, 0.0 of 1,000",
        "docstrings that begin with What, Of, Who or When: 0",
        "causes compared outside of rulings and knowledge: 0",
        "file names that are there twice: 0, 0.0 of 1,000",
        "lines of README.md: 2",
    ]


def test_product_names_docstrings_and_cause_comparisons_are_within_limits() -> None:
    home = Path(__file__).resolve().parents[3]
    names, texts, causes, files = count(home, python_files(home / program for program in PROGRAMS)).values()
    assert names.per_thousand < 1, names.places
    assert texts.per_thousand < 1, texts.places
    assert causes.places == files.places == []
