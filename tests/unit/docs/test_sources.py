"""Where a sentence says from where we know it, a reader can open that source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[3]
TEXTS = [
    path
    for folder in (
        "dags",
        "docs",
        "lab",
        "expectations",
        "plugins",
        "queries",
        "setup",
        "kafka_hindsight",
        "spark_jobs",
        "tests",
    )
    for path in sorted((HOME / folder).rglob("*"))
    if path.suffix in (".md", ".py", ".sql", ".html") and path != Path(__file__)
]


def test_no_text_cites_a_document_outside_the_repository() -> None:
    """Name Kafka's class or method, a KIP or a page of docs/ instead."""
    assert [p.relative_to(HOME) for p in TEXTS if "catalogue" in p.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("cited", sorted({m for p in TEXTS if p.suffix == ".py" for m in re.findall(
    r"docs/[a-z_/-]+\.md(?: section \d+)?", p.read_text(encoding="utf-8"))}))  # fmt: skip
def test_each_page_and_section_cited_in_code_exists(cited: str) -> None:
    page, _, section = cited.partition(" section ")
    text = (HOME / page).read_text(encoding="utf-8")
    assert not section or re.search(rf"^## {section}[.]", text, re.MULTILINE), cited
