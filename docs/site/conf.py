"""The pages as a site. The project's folder is the source, so links work here as they do in a checkout."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[2]
SAMPLE = HOME / ".build" / "sample" / "page"
REPORT = '<a href="../sample/index.html">The report of the recorded night</a>, to click on before you install anything.'
INDEX = "docs/index"

project = "Kafka Hindsight"
extensions = ["myst_parser"]
root_doc = INDEX
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**.md"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = project
html_copy_source = False
html_extra_path = ["root", *([str(SAMPLE)] if SAMPLE.exists() else [])]


def with_navigation(_: Any, page: str, text: list[str]) -> None:
    """Makes the navigation of the index: its headings, and the pages that each links to, in that order."""
    if page == INDEX:
        text[0] += "".join(_parts(text[0]))
        if SAMPLE.exists():
            text[0] = text[0].replace("## Your path\n", f"## Your path\n\n{REPORT}\n", 1)
    elif page == "docs/adr/README":
        text[0] += _tree("", sorted(set(re.findall(r"\((\d{4}-[^)#]+)\.md\)", text[0]))))


def _parts(text: str) -> list[str]:
    headings = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    seen: set[str] = set()
    parts = []
    for heading, below in zip(headings[::2], headings[1::2], strict=True):
        pages = dict.fromkeys(page for page in re.findall(r"\(([^):#]+)\.md\)", below) if page not in seen)
        seen |= pages.keys()
        parts.append(_tree(f":caption: {heading}\n", pages))
    return parts


def _tree(options: str, pages: Any) -> str:
    listed = "\n".join(pages)
    return f"\n\n```{{toctree}}\n:hidden:\n{options}\n{listed}\n```\n"


def setup(app: Any) -> None:
    """Sphinx calls it."""
    app.connect("source-read", with_navigation)
