"""What the product is built from: bills of materials, licences, jars by their hashes, and known vulnerabilities.

`make supply` runs it. The bills lie in `.build/`, as CycloneDX in JSON. It ends with 1 where a jar is not the pinned
one, where an advisory exists, and where the service that knows advisories did not answer.
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
from kafka_hindsight.start import launch, maven
from setup.needs import CLIENTS, KAFKAS

TOOLS = HOME / ".build" / "supply" / "bin"
ENVIRONMENTS = ("spark", "airflow")
NOT_DECLARED = "not declared"
LOCKS = HOME / "locks"


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
    """The lock of each folder into which jars are fetched, by the folder."""
    kafkas = {KAFKAS / lock.stem.removeprefix("kafka-"): lock for lock in LOCKS.glob("kafka-*.sha256")}
    product = {launch.jars(): launch.DELTA_LOCK}
    tests = {HOME / ".build" / "hadoop": LOCKS / "hadoop.sha256"}
    return {**product, **tests, CLIENTS / "java": LOCKS / "clients.sha256", **kafkas}


def other_jars(locks: Mapping[Path, Path]) -> Iterator[str]:
    """Sentences on jars that are not the pinned ones; says which folders were looked at."""
    for folder, lock in sorted(locks.items()):
        wanted = maven.locked(lock)
        wrong = maven.differences(folder, wanted) if folder.exists() else []
        said = "not fetched yet" if not folder.exists() else f"{len(wrong)} differ" if wrong else "as locked"
        print(f"{lock.relative_to(HOME)}: {len(wanted)} jars, {said}")
        yield from (f"{folder}: {sentence}" for sentence in wrong)


def advisories(locks: Iterable[Path]) -> Iterator[str]:
    """Sentences on packages with known vulnerabilities, and on locks that could not be audited."""
    for lock in locks:
        found = HOME / ".build" / f"{lock.stem}.audit.json"
        found.unlink(missing_ok=True)
        tool = [str(TOOLS / "pip-audit"), "--strict", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
        done = subprocess.run([*tool, "-f", "json", "-o", str(found), "-r", str(lock)], capture_output=True, text=True)
        if not found.exists():
            words = "; ".join(said_last(done.stderr))
            yield (
                f"{lock.relative_to(HOME)} is not audited. Found: {words}. Needed: PyPI's advisories; a mirror may "
                "not have them. What to do: run `make supply` where PyPI itself answers."
            )
            continue
        packages = json.loads(found.read_text(encoding="utf-8"))["dependencies"]
        print(f"{lock.relative_to(HOME)}: {len(packages)} packages audited")
        yield from (f"{lock.relative_to(HOME)}: {sentence}" for sentence in vulnerable(packages))


def said_last(text: str) -> list[str]:
    """What pip-audit calls its errors; of a stack trace the last line."""
    lines = text.strip().splitlines()
    return [line.split(":", 2)[2] for line in lines if line.startswith("ERROR:")] or lines[-1:]


def vulnerable(packages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A sentence for each advisory in what pip-audit wrote."""
    for package in packages:
        for known in package["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version yet"
            yield f"{package['name']} {package['version']} has {known['id']}; fixed in {fixed}."


def write_bill(name: str) -> Path:
    """Writes the bill of materials of an environment, the same for the same packages; gives its place."""
    bill = HOME / ".build" / f"{name}.cdx.json"
    python = HOME / f".venv-{name}" / "bin" / "python"
    words = [str(TOOLS / "cyclonedx-py"), "environment", "--output-reproducible", "--of", "JSON", "-o", str(bill)]
    subprocess.run([*words, str(python)], check=True)
    return bill


def by_licence(components: Iterable[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    """The packages of a bill with their versions, by the licences that they declare, in alphabetical order."""
    found: dict[str, list[str]] = defaultdict(list)
    for component in components:
        found[licence_of(component)].append(f"{component['name']} {component['version']}")
    return {licence: sorted(found[licence], key=str.lower) for licence in sorted(found, key=str.lower)}


def licence_of(component: Mapping[str, Any]) -> str:
    """What a package says of its licence: an SPDX expression or id, else the name it gives."""
    told = [
        entry.get("expression") or entry["license"].get("id") or entry["license"]["name"]
        for entry in component.get("licenses", ())
    ]
    return " and ".join(dict.fromkeys(told)) or NOT_DECLARED


if __name__ == "__main__":
    sys.exit(main())
