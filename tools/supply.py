"""What the product is built from: a bill of materials of each environment, and the licences in it.

`make supply` runs it, and then pip-audit. The bills lie in `.build/`, as CycloneDX in JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spark_jobs.shared.launch import HOME

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
    return 0


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
