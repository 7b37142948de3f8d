"""Build the release, and try it as a stranger would: `make release URL=https://host/owner/project`.

What is committed is built, with links to URL in place of relative ones. The wheel is installed without Spark in an
empty folder, and audits the recorded night there. Nothing is uploaded.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email import message_from_bytes
from pathlib import Path

from kafka_hindsight import __version__
from kafka_hindsight.settings.home import HOME
from setup.build import SAMPLE, UV

_LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")
_PICTURE = re.compile(r"!(\[[^]]*\])\((?!https?://)([^)\s]+)\)")
_NEEDED = (
    "Name",
    "Version",
    "Summary",
    "Keywords",
    "Requires-Python",
    "Classifier",
    "Project-URL",
    "Description-Content-Type",
)
PROJECTS = (Path(), Path("setup/airflow"))


def main(arguments: list[str] | None = None) -> int:
    """Build into dist/. Return 0, or 1 if the metadata lacks something or the wheel does not work."""
    parser = argparse.ArgumentParser("python -m tools.release", description="Build the release, and try it.")
    parser.add_argument("--url", required=True, help="where the project lies, such as https://host/owner/project")
    url = parser.parse_args(arguments).url.rstrip("/")
    dist = HOME / "dist"
    with tempfile.TemporaryDirectory() as folder:
        source, work = Path(folder) / "source", Path(folder) / "work"
        source.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=HOME, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", source], input=archive, check=True)
        for project in PROJECTS:
            prepare(source / project, url)
            subprocess.run(
                [sys.executable, "-m", "hatchling", "build", "-d", str(dist)], cwd=source / project, check=True
            )
        built = sorted(dist.glob(f"kafka_hindsight*-{__version__}-py3-none-any.whl"))
        problems = [f"{wheel.name}: {problem}" for wheel in built for problem in problems_of(wheel)]
        print("\n".join(problems or [f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB" for wheel in built]))
        return 1 if problems else try_out(next(w for w in built if "airflow" not in w.name), work)


def prepare(project: Path, url: str) -> None:
    """Name the address in the metadata, and make the links of README.md absolute."""
    file = project / "pyproject.toml"
    urls = f'[project.urls]\nHomepage = "{url}"\nChangelog = "{url}/blob/v{__version__}/CHANGELOG.md"\n\n'
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("[project.optional-dependencies]", f"{urls}[project.optional-dependencies]", 1))
    if (readme := project / "README.md").exists():
        readme.write_text(absolute(readme.read_text(encoding="utf-8"), url))


def absolute(text: str, url: str) -> str:
    """Markdown whose links lead to the project's address: an index shows the page alone."""
    text = _PICTURE.sub(rf"!\1({url}/raw/v{__version__}/\2)", text)
    return _LINK.sub(rf"]({url}/blob/v{__version__}/\1)", text)


def problems_of(wheel: Path) -> list[str]:
    """What the metadata of a wheel lacks, and relative links in its description."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    lacks = [f"no {key}" for key in _NEEDED if not metadata[key]]
    return lacks + [f"a relative link to {link}" for link in _LINK.findall(str(metadata.get_payload()))]


def try_out(wheel: Path, work: Path) -> int:
    """Install the wheel in a new environment, and audit the recorded night in an empty folder."""
    environment, night, empty = (work / name for name in ("environment", "night", "empty"))
    empty.mkdir(parents=True)
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(night, filter="data")
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", environment / "bin" / "python", f"{wheel}[audit]"], check=True
    )
    size = sum(p.lstat().st_size for p in environment.rglob("*")) / 1e6
    print(f"Installed: {size:.0f} MB", flush=True)
    variables = {"PATH": os.environ["PATH"], "HOME": str(work)}
    inputs = ["--logs", night / "logs", "--client-logs", night / "clients", "--snapshots", night / "snapshots.jsonl"]
    for words in (
        ["--version"],
        ["doctor"],
        ["audit", *inputs],
        ["report"],
        ["explain", "worst"],
        ["sql", "coverage_by_source"],
    ):
        done = subprocess.run(
            [environment / "bin" / "hindsight", *words], cwd=empty, env=variables, stdout=subprocess.DEVNULL
        )
        print(f"hindsight {words[0]}: {done.returncode}", flush=True)
        if done.returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
