"""Private names of other packages are found, and those of ours are left alone."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tools import public_apis


def private_names(text: str, file: str = "plugins/a.py", *others: str) -> list[str]:
    tree = ast.parse(text)
    ours = Counter(name for each in (tree, *map(ast.parse, others)) for name in public_apis.defined(each))
    return [line.split()[1] for line in public_apis.foreign(file, tree, ours)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hook._submit_sp.returncode", "_submit_sp"),
        ("from airflow.exceptions import _x", "_x"),
        ("from airflow._shared import configuration", "_shared"),
        ("import sqlalchemy._dialects", "_dialects"),
        ("class A(B):\n    def _build(self): return super()._build()", "_build"),
        ("getattr(hook, '_submit_sp', None)", "_submit_sp"),
        ("session._jvm", "_jvm"),
        ("class A:\n    def f(self): self._jvm = 1\ncontext._jvm", "_jvm"),
    ],
)
def test_private_name_of_another_package_is_reported(text: str, name: str) -> None:
    assert private_names(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "def _x(): ...\nmodule._x",
        "class A:\n    def f(self): self._x = 1\nA()._x",
        "self._x\ncls._x",
        "row._replace(a=1)\nos._exit(1)\na.__dict__",
        "class A:\n    def _x(self): ...\nclass B(A):\n    def _x(self): super()._x()",
    ],
)
def test_own_or_documented_underscore_name_is_not_reported(text: str) -> None:
    assert private_names(text) == []


def test_py4j_gateway_is_allowed_in_listed_files_only() -> None:
    assert private_names("spark._jvm", "spark_jobs/session.py") == []
    assert private_names("spark._jvm", "kafka_hindsight/intake/survey.py") == ["_jvm"]
