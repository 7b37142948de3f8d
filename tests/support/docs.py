"""The pages of docs/, and the examples in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_hindsight.settings.home import HOME

PAGES = {p.name: p.read_text(encoding="utf-8") for p in (HOME / "README.md", *sorted((HOME / "docs").glob("*.md")))}


def examples(page: str) -> Iterator[str]:
    """The lines that a page shows by four blanks, without their comments."""
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"^    (?=\S)(?![-*] )(.+)$", outside, flags=re.MULTILINE):
        yield re.split(r"\s+#", line)[0].rstrip()


def first_example(page: str) -> tuple[str, str] | None:
    """The program that the first example of a page is for, sh or python, and what it is given."""
    shown = re.finditer(r"^```(\w*)\n(.*?)^```$|^    (?![-*] )(\S[^\n]*)$", page, flags=re.MULTILINE | re.DOTALL)
    return next(((m[1] or "sh", m[2] or m[3]) for m in shown if m[1] in (None, "sh", "python")), None)
