"""The site: its navigation is the index, which names every page, and the picture of the whole is well formed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

HOME = Path(__file__).resolve().parents[3]
INDEX = (HOME / "docs" / "index.md").read_text(encoding="utf-8")


def test_index_names_every_page_in_four_kinds() -> None:
    spec = importlib.util.spec_from_file_location("conf", HOME / "docs" / "site" / "conf.py")
    assert spec and spec.loader
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    parts = conf._parts(INDEX)
    captions = [re.findall(r":caption: (.*)", part)[0] for part in parts]
    assert captions == ["Your path", "More guides", "Reference", "Why, and how sure"]
    listed = [line for part in parts for line in part.splitlines() if re.fullmatch(r"[\w./]+", line)]
    assert len(listed) == len(set(listed))
    pages = {p.stem for p in (HOME / "docs").glob("*.md")} - {"index"}
    assert pages <= set(listed)


def test_architecture_picture_is_valid_svg() -> None:
    assert ElementTree.parse(HOME / "docs" / "pictures" / "architecture.svg").getroot().tag.endswith("}svg")


def test_issue_templates_fit_their_schema() -> None:
    folder = HOME / ".github" / "ISSUE_TEMPLATE"
    forms = [str(p) for p in sorted(folder.glob("*.yml")) if p.name != "config.yml"]
    for schema, files in (("issue-forms", forms), ("issue-config", [str(folder / "config.yml")])):
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{schema}", *files]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
