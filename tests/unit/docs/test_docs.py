"""The generated pages: current, complete, and unharmed by whatever a sample or a name holds."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from importlib import import_module
from os.path import normpath
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.code import NounCode
from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.nouns.causes import CauseFamily, CauseNoun
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.table_model import Check, Column, Scalar, Table
from kafka_hindsight.judgements.reasoning.proofs import always, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling
from kafka_hindsight.knowledge.model import Noise, Pattern, Rule
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import MEANINGS, variable
from kafka_hindsight.shared.plain import quoted, visible
from kafka_hindsight.sql.named_queries import NamedQuery, named_queries
from tools.pages import docs, markdown, ruling_pages
from tools.pages.ruling_pages import sentence_of
from tools.pages.ruling_tables import RULING_TABLES
from tools.pages.samples import Captured, samples_of

HOSTILE = (
    "a|b",
    "`",
    "```\n# heading\n```",
    "``|`` \\| \\`",
    "<script>alert(1)</script>",
    "<!-- x",
    "![i](http://x/y.png) [l](javascript:x)",
    "**b** _e_ __s__ ~~d~~",
    "&lt;&#124;",
    "# heading",
    "\x1b[2J\u202e\ud800",
    "a \\",
)


def tokens_of(page: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page)


def inline_text(token: Token) -> str:
    """The text that a reader sees in a line; markup of its own is refused, but for the tags around code."""
    children = token.children or []
    marked = [c for c in children if c.type not in ("text", "code_inline", "html_inline", "text_special")]
    assert marked == []
    assert {c.content for c in children if c.type == "html_inline"} <= {"<code>", "</code>"}
    return "".join(c.content for c in children if c.type != "html_inline")


def headings(page: str) -> list[str]:
    tokens = tokens_of(page)
    return [inline_text(tokens[n + 1]) for n, t in enumerate(tokens) if t.type == "heading_open"]


def cells(page: str) -> list[list[str]]:
    """The rows of all tables of a page."""
    tokens = tokens_of(page)
    rows: list[list[str]] = []
    for n, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            children = tokens[n + 1].children or []
            rows[-1].append("".join(c.content for c in children if c.type != "html_inline"))
    return rows


def fences(page: str) -> list[str]:
    return [t.content.removesuffix("\n") for t in tokens_of(page) if t.type == "fence"]


def test_generated_pages_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert docs.main(["--check"]) == 0, capsys.readouterr().out


def test_code_host_knows_each_generated_page() -> None:
    lines = (HOME / ".gitattributes").read_text(encoding="utf-8").splitlines()
    marked = [line.removesuffix(" linguist-generated") for line in lines if not line.startswith("#")]
    files = {"/" + normpath(f"docs/{name}") for name in docs.pages()}
    assert all(any(fnmatch(file, pattern) for pattern in marked) for file in files)
    assert all(any(fnmatch(file, pattern) for file in files) for pattern in marked)


def test_stale_page_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "docs"
    assert docs.main(["--check", "--folder", str(folder)]) == 1
    assert not folder.exists()
    assert docs.main(["--folder", str(folder)]) == 0
    assert docs.main(["--check", "--folder", str(folder)]) == 0
    (folder / "rules.md").write_text("changed by hand")
    capsys.readouterr()
    assert docs.main(["--check", "--folder", str(folder)]) == 1
    assert capsys.readouterr().out == (
        "docs/rules.md is not what its declarations say. Needed: the page as generated. Run `make docs`.\n"
    )


def test_every_declaration_has_a_heading() -> None:
    pages = docs.pages()
    assert headings(pages["tables.md"]) == ["Tables", *(t.full_name for t in TABLES)]
    assert headings(pages["causes.md"]) == ["Causes", *Cause]
    assert headings(pages["rules.md"]) == ["Rules", *(r.rule_id for r in RULES)]
    assert headings(pages["queries.md"]) == ["Named queries", *named_queries()]
    assert set(headings(pages["patterns.md"])) >= {p.pattern_id for p in PATTERNS}


def test_every_column_and_setting_has_a_row() -> None:
    rows = cells(docs.pages()["tables.md"])
    for table in TABLES:
        for column in table.columns:
            meaning = column.meaning + (": " + ", ".join(column.codes) if column.codes else "")
            null = "yes" if column.nullable else ""
            assert [column.name, column.type, null, meaning.replace("`", ""), column.unit] in rows
    shown = {cell for r in cells(docs.pages()["settings.md"]) for cell in r}
    assert shown >= {*map(variable, MEANINGS), "alerts.receivers", "severities", "defaults", "connection"}


def test_patterns_page_has_whole_captured_lines() -> None:
    shown = fences(docs.pages()["patterns.md"])
    for pattern in PATTERNS:
        assert any(quoted(sample.record) in shown for sample in samples_of(pattern)), pattern.pattern_id


def test_rebalance_rulings_are_under_their_cause_with_cases_and_proof() -> None:
    page = docs.pages()["causes.md"]
    under = dict(zip(Cause, re.split(r"^## .*$", page, flags=re.MULTILINE)[1:], strict=True))
    for ruling in (r for table in RULING_TABLES["gold.rebalances.cause"].values() for r in table):
        shown = under[Cause(ruling.code)]
        assert markdown.prose(ruling_pages.as_read(ruling.sentence)) in shown
        assert markdown.code(ruling.cases[0]) in shown
        assert markdown.code(ruling.cases[1]) in shown
        assert all(markdown.prose(sentence_of(p)) in shown for p in ruling.proof)


ALL_RULINGS = [r for tables in RULING_TABLES.values() for table in tables.values() for r in table]


def test_ruling_placeholders_are_shown_in_words() -> None:
    words = {word for r in ALL_RULINGS for word in re.findall(r"\{([^{}]*)\}", r.sentence)}
    assert set(ruling_pages.READ_AS) <= words
    shown = re.findall(r"\{([^{}]*)\}", " ".join(ruling_pages.as_read(r.sentence) for r in ALL_RULINGS))
    assert [word for word in shown if re.search(r"[:_]|\w\.\w", word.replace("max.poll.interval.ms", ""))] == []


def test_ruling_place_leads_to_its_declaration() -> None:
    declared = ruling_pages.places()
    for ruling in ALL_RULINGS:
        module, table, number = re.fullmatch(r"`(\S+)\.py`, `(\w+)`, number (\d+)", declared[id(ruling)]).groups()  # type: ignore[union-attr]
        value = getattr(import_module(module.replace("/", ".")), table)
        assert [r for r in value if isinstance(r, Ruling)][int(number) - 1] is ruling


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_has_no_markup_but_code(text: str) -> None:
    shown = re.sub(r"`([^`]+)`", r"\1", visible(text))
    line = next(t for t in tokens_of(f"- Says: {markdown.prose(text)}.") if t.type == "inline")
    assert inline_text(line) == f"Says: {shown}."
    assert cells(markdown.as_table(("a", "b"), [(markdown.prose(text), "end")])) == [["a", "b"], [shown, "end"]]


def test_plain_prose_is_unchanged() -> None:
    assert markdown.prose("set `a_b` of max.poll_ms") == "set `a_b` of max.poll_ms"


@pytest.mark.parametrize("text", HOSTILE)
def test_code_is_literal_in_line_and_cell(text: str) -> None:
    line = next(t for t in tokens_of(f"Key: {markdown.code(text)}.") if t.type == "inline")
    assert inline_text(line) == f"Key: {visible(text)}."
    assert cells(markdown.as_table(("a", "b"), [(markdown.code(text), "end")]))[1] == [visible(text), "end"]


@pytest.mark.parametrize("text", HOSTILE)
def test_fence_holds_any_text(text: str) -> None:
    tokens = tokens_of(f"before\n\n{markdown.fenced(text)}\n\nafter")
    assert [t.type for t in tokens if t.nesting >= 0 and t.type != "inline"] == [
        "paragraph_open",
        "fence",
        "paragraph_open",
    ]
    assert fences(markdown.fenced(text)) == [quoted(text)]


@pytest.mark.parametrize("text", HOSTILE)
def test_page_of_hostile_declarations_keeps_its_structure(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (Column("k", Scalar.STRING, text, nullable=False), Column("o", Scalar.INT, text, unit=text))
    table = Table(Row, "gold", "t", text, ("k",), columns, checks=(Check("c", text, text),))
    page = docs.tables_page([table], {"gold.t": "publish"})
    assert headings(page) == ["Tables", "gold.t"]
    assert {len(row) for row in cells(page)} == {2, 3, 5}

    monkeypatch.setattr(docs, "samples_of", lambda _: (Captured(text, "4.1"),))
    pattern = Pattern("p", Kind.REBALANCE_STARTED, (text,), "x", text, text)
    page = docs.patterns_page([pattern], [Noise((text,), text, text)])
    assert headings(page) == ["Patterns", "rebalance_started", "p", "Known and ignored"]
    assert fences(page) == [quoted(text)]
    assert len(cells(page)) == 2

    noun = CauseNoun(
        code="c", meaning=text, label=text, family=CauseFamily.TOPIC, advice=text, symptom=text, source=text
    )
    (cause,) = NounCode("Cause", {"C": noun})  # type: ignore[call-arg, arg-type, misc, var-annotated]
    proof, unless = ((with_sentence(text, lambda case: always(case)),) for _ in range(2))
    ruling = Likely(cause, text, proof, text, (text, text), unless)  # type: ignore[var-annotated]
    page = ruling_pages.causes_page([cause], {"a member left": [ruling]}, {id(ruling): "here"})
    assert headings(page) == ["Causes", "c"]
    assert len(cells(page)) == 4

    rule = Rule("r", "info", None, "group", text, text, text, {"limit": 2})
    assert headings(docs.rules_page([rule])) == ["Rules", "r"]
    query = NamedQuery("q", text, {"v": text}, text)
    page = docs.queries_page([query])
    assert headings(page) == ["Named queries", "q"]
    assert fences(page)[1:] == [quoted(text)]


def test_made_sample_is_shown_only_without_captured_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made, captured = Captured("made it", "4.1", made=True), Captured("wrote it", "3.9")
    samples = {"both": (made, captured), "alone": (made,)}
    monkeypatch.setattr(docs, "samples_of", lambda pattern: samples[pattern.pattern_id])
    patterns = [Pattern(name, Kind.REBALANCE_STARTED, ("l",), "x", "4.1", "s") for name in samples]
    page = docs.patterns_page(patterns, ())
    assert "Known from Kafka's source alone, until a line is captured: `alone`." in page
    assert fences(page) == ["wrote it", "made it"]
