"""The examples of laws are the same in each process: what fails in one run fails in all."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st


def drawn() -> list[tuple[list[int], str]]:
    examples = []

    @given(st.lists(st.integers()), st.text())
    def law(numbers: list[int], text: str) -> None:
        examples.append((numbers, text))

    law()
    return examples


def test_examples_do_not_depend_on_the_modules_that_a_process_has_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    file = tmp_path / "of_ours.py"
    file.write_text(f"NUMBERS = {tuple(range(70_001, 79_000, 70))}\n", encoding="utf-8")
    spec = spec_from_file_location("of_ours", file)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "of_ours", module)
    assert drawn() == before
