"""A verb whose extra is missing says so, with one command that installs it."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import PackageNotFoundError

import pytest

from kafka_hindsight.cli.verbs import VERBS
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start import extras
from kafka_hindsight.start.extras import EXTRAS, require_extra

DECLARED = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["optional-dependencies"]
READERS = {"alert", "clusters", "collection", "doctor", "explain", "fleet", "metrics", "report", "sql", "tables"}
"""The verbs that the wheel alone can run. `mcp` needs its protocol besides."""


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "version", lacking)
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", sys.prefix)


@pytest.mark.usefixtures("nothing_installed")
def test_environment_of_the_steps_elsewhere_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", "/opt/steps")
    require_extra("audit", "`hindsight audit`")


@pytest.mark.parametrize("name", EXTRAS)
@pytest.mark.usefixtures("nothing_installed")
def test_checkout_names_its_target_of_make(name: str) -> None:
    with pytest.raises(BadInput, match=rf"^`hindsight x` found no .*the extra `{name}`.*What to do: make setup"):
        require_extra(name, "`hindsight x`")


@pytest.mark.parametrize("name", EXTRAS)
@pytest.mark.usefixtures("nothing_installed")
def test_wheel_names_the_packages_with_their_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [f"{package.replace(' ', '')} ; extra == '{name}'" for package in DECLARED[name]]
    monkeypatch.setattr(extras, "IS_INSTALLED", True)
    monkeypatch.setattr(extras, "requires", lambda _: [*declared, "other>=1 ; extra == 'none'"])
    packages = " ".join(f"'{package.partition(' ')[0]}'" for package in declared)
    with pytest.raises(BadInput) as refusal:
        require_extra(name, "`hindsight x`")
    assert str(refusal.value).endswith(f"What to do: pip install {packages}")


@pytest.mark.parametrize("name", EXTRAS)
def test_packages_are_those_that_the_extra_brings(name: str) -> None:
    assert {*EXTRAS[name].packages} == {package.partition(">")[0] for package in DECLARED[name]}


def test_readers_need_no_extra_and_each_named_extra_is_declared() -> None:
    assert {name for name, verb in VERBS.items() if verb.extra is None} == READERS
    assert {verb.extra for verb in VERBS.values()} - {None} <= set(EXTRAS) <= set(DECLARED)


@pytest.mark.parametrize("project", ["pyproject.toml", "setup/airflow/pyproject.toml"])
def test_wheels_ask_for_ranges_and_locks_for_versions(project: str) -> None:
    declared = tomllib.loads((HOME / project).read_text())["project"]
    packages = [*declared["dependencies"], *(p for own in declared["optional-dependencies"].values() for p in own)]
    assert [package for package in packages if "==" in package] == []
