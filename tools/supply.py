"""Check the parts of the product: bills of materials, licences, hashes of jars, and known vulnerabilities.

`make supply` runs it. The bills are in `.build/`, as CycloneDX in JSON. It ends with 1 if a jar has another hash, if
there is an advisory, or if the service of advisories did not answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.home import HOME
from setup import maven
from setup.build import DELTA_LOCK, JARS, LOCKS
from setup.needs import CLIENTS, KAFKAS

TOOLS = HOME / ".build" / "supply" / "bin"
ENVIRONMENTS = ("spark", "airflow")
NOT_DECLARED = "not declared"


def main() -> int:
    for name in ENVIRONMENTS:
        bill = write_bill(name)
        components = json.loads(bill.read_text(encoding="utf-8"))["components"]
        print(f"{name}: {len(components)} packages, listed in {bill.relative_to(HOME)}")
        for licence, packages in by_licence(components).items():
            print(f"  {licence}: {', '.join(packages)}")
    wrong = [*other_jars(folders()), *advisories(sorted(LOCKS.glob("*.txt")))]
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


def folders() -> dict[Path, Path]:
    """The lock file of each folder of jars, by folder."""
    kafkas = {KAFKAS / lock.stem.removeprefix("kafka-"): lock for lock in LOCKS.glob("kafka-*.sha256")}
    tests = {JARS: DELTA_LOCK, HOME / ".build" / "hadoop": LOCKS / "hadoop.sha256"}
    return {**tests, CLIENTS / "java": LOCKS / "clients.sha256", **kafkas}


def other_jars(locks: Mapping[Path, Path]) -> Iterator[str]:
    """A sentence for each jar without its pinned hash. Prints which folders were checked."""
    for folder, lock in sorted(locks.items()):
        hashes = maven.locked(lock)
        problems = maven.differences(folder, hashes) if folder.exists() else []
        state = "not fetched yet" if not folder.exists() else f"{len(problems)} differ" if problems else "as locked"
        print(f"{lock.relative_to(HOME)}: {len(hashes)} jars, {state}")
        yield from (f"{folder}: {sentence}" for sentence in problems)


def advisories(locks: Iterable[Path]) -> Iterator[str]:
    """A sentence for each package with a known vulnerability, and for each lock that could not be audited."""
    for lock in locks:
        report = HOME / ".build" / f"{lock.stem}.audit.json"
        report.unlink(missing_ok=True)
        tool = [str(TOOLS / "pip-audit"), "--strict", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
        process = subprocess.run(
            [*tool, "-f", "json", "-o", str(report), "-r", str(lock)], capture_output=True, text=True
        )
        if not report.exists():
            words = "; ".join(error_lines(process.stderr))
            yield (
                f"{lock.relative_to(HOME)} is not audited. Found: {words}. Needed: PyPI's advisories; a mirror may "
                "not have them. What to do: run `make supply` where PyPI itself answers."
            )
            continue
        packages = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
        print(f"{lock.relative_to(HOME)}: {len(packages)} packages audited")
        yield from (f"{lock.relative_to(HOME)}: {sentence}" for sentence in vulnerable(packages))


def error_lines(text: str) -> list[str]:
    """The error lines of pip-audit; of a stack trace the last line."""
    lines = text.strip().splitlines()
    return [line.split(":", 2)[2] for line in lines if line.startswith("ERROR:")] or lines[-1:]


def vulnerable(packages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each advisory in a report of pip-audit."""
    for package in packages:
        for advisory in package["vulns"]:
            fixed = ", ".join(advisory["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']} has {advisory['id']}; fixed in {fixed}."


def write_bill(name: str) -> Path:
    """Write the bill of materials of an environment, the same for the same packages, and return its path."""
    bill = HOME / ".build" / f"{name}.cdx.json"
    python = HOME / f".venv-{name}" / "bin" / "python"
    words = [str(TOOLS / "cyclonedx-py"), "environment", "--output-reproducible", "--of", "JSON", "-o", str(bill)]
    subprocess.run([*words, str(python)], check=True)
    return bill


def by_licence(components: Iterable[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    """The packages of a bill with their versions, by the licences that they declare, in alphabetical order."""
    packages: dict[str, list[str]] = defaultdict(list)
    for component in components:
        packages[licence_of(component)].append(f"{component['name']} {component['version']}")
    return {licence: sorted(packages[licence], key=str.lower) for licence in sorted(packages, key=str.lower)}


def licence_of(component: Mapping[str, Any]) -> str:
    """The declared licence of a package: an SPDX expression or id, else a name."""
    licences = [
        entry.get("expression") or entry["license"].get("id") or entry["license"]["name"]
        for entry in component.get("licenses", ())
    ]
    return " and ".join(dict.fromkeys(licences)) or NOT_DECLARED


if __name__ == "__main__":
    sys.exit(main())
