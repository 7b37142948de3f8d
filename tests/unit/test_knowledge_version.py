"""knowledge_version names what is declared: the same in every process, another one where a row may differ."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.judgements.rebalances.leave_rulings import LEAVE_RULINGS
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Sample
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.knowledge.version import READING_VERSION, knowledge_version, version_of

HOME = Path(__file__).resolve().parents[2]
PATTERN = next(p for p in PATTERNS if p.constants)
RULE = next(r for r in RULES if r.thresholds)


def defined(source: str, **names: Any) -> Callable[..., Any]:
    """The function `f` of some source text, as a module of ours would hold it."""
    scope = {"__name__": "kafka_hindsight.made_up", **names}
    exec(source, scope)  # text of this file
    return scope["f"]


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_the_version_is_the_same_in_every_process(seed: str) -> None:
    code = "from kafka_hindsight.knowledge.version import *; print(knowledge_version(), READING_VERSION)"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(HOME)}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == [knowledge_version(), READING_VERSION]


@pytest.mark.parametrize(
    "changed",
    [
        {"regex": PATTERN.regex[:-1] + " ?$"},
        {"contains": PATTERN.contains + " "},
        {"loggers": (*PATTERN.loggers, "kafka.Other")},
        {"kind": Kind.GROUP_DEAD},
        {"constants": {}},
    ],
    ids=str,
)
def test_a_pattern_that_reads_otherwise_is_another_version(changed: dict[str, Any]) -> None:
    assert version_of(replace(PATTERN, **changed)) != version_of(PATTERN)


@pytest.mark.parametrize(
    "changed",
    [
        {"thresholds": {k: v + 1 for k, v in RULE.thresholds.items()}},
        {"severity": "other"},
        {"says": RULE.says + "."},
        {"advice": RULE.advice + "."},
        {"rule_id": RULE.rule_id + "_2"},
    ],
    ids=str,
)
def test_a_rule_that_finds_or_says_otherwise_is_another_version(changed: dict[str, Any]) -> None:
    assert version_of(replace(RULE, **changed)) != version_of(RULE)


def test_in_which_module_a_function_stands_makes_no_other_version() -> None:
    source = "def g(x):\n    return x + 1\ndef f(x):\n    return g(x)"
    assert version_of(defined(source, __name__="spark_jobs.elsewhere")) == version_of(defined(source))


def test_what_proves_or_describes_makes_no_other_version() -> None:
    sample = Sample("a line", {}, "4.1")
    proof = {"samples": (sample,), "counter_samples": ("b",), "source": "elsewhere", "versions": "9"}
    assert version_of(replace(PATTERN, **proof)) == version_of(PATTERN)
    assert version_of(replace(RULE, source="elsewhere")) == version_of(RULE)
    noun = Cause.MEMBER_JOINED.noun
    assert version_of(replace(noun, symptom="", source="", label="", meaning="")) == version_of(noun)
    assert version_of(replace(noun, advice="")) != version_of(noun)
    ruling = LEAVE_RULINGS[0]
    assert version_of(replace(ruling, decides="", looks_alike="", source="")) == version_of(ruling)
    assert version_of(replace(ruling, proof=LEAVE_RULINGS[1].proof)) != version_of(ruling)


def test_rulings_count_and_so_does_their_order() -> None:
    assert len({knowledge_version(), knowledge_version(["a", "b"]), knowledge_version(["b", "a"])}) == 3


WITHIN = "def f(gap, limit=3):\n    return gap < limit * 5 and gap in {'a', 'b'}\n"


def test_the_instructions_of_a_function_count_and_what_is_said_about_it_does_not() -> None:
    commented = WITHIN.replace(":\n", ":\n    '''Why.'''\n    # and how\n\n", 1)
    assert version_of(defined(commented)) == version_of(defined(WITHIN))
    for changed in (WITHIN.replace("5", "6"), WITHIN.replace("=3", "=4"), WITHIN.replace("'b'", "'c'")):
        assert version_of(defined(changed)) != version_of(defined(WITHIN))


def test_what_a_function_names_and_holds_counts() -> None:
    helper = "def g(x):\n    return x > {}\ndef f(x):\n    return any(g(y) for y in x) or x == LIMIT\n"
    versions = {
        version_of(defined(helper.format(1), LIMIT=1)),
        version_of(defined(helper.format(2), LIMIT=1)),
        version_of(defined(helper.format(1), LIMIT=2)),
    }
    assert len(versions) == 3

    def above(limit: int) -> Callable[[int], bool]:
        return lambda n: n > limit

    assert len({version_of(above(1)), version_of(above(2)), version_of(partial(above, 1)), version_of(above)}) == 4
    assert version_of(above(1)) == version_of(above(1))


def test_a_function_that_calls_itself_has_a_version() -> None:
    assert version_of(defined("def f(n):\n    return n and f(n - 1)\n"))


def test_a_value_whose_content_is_hidden_is_refused() -> None:
    with pytest.raises(TypeError, match="Found: a object in what is known"):
        version_of([object()])


def test_how_lines_are_parsed_has_one_hash_in_every_process() -> None:
    asked = "from kafka_hindsight.spark.frames.parsed_events import PARSED_AS; print(PARSED_AS)"
    told = {
        subprocess.check_output([sys.executable, "-c", asked], env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2")
    }
    assert len(told) == 1
