"""The answer about one subject of a window: from one source for the page, the terminal and programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.catalog.rows import Finding, Incident, Quote
from kafka_hindsight.catalog.rows.structs import SettingChange
from kafka_hindsight.knowledge.advice import change_words
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain

TIMES = 12
TICKET_FACTS = 3
"""The facts about its cost that a ticket has."""


@dataclass(frozen=True)
class Answer:
    """The answer about one incident, group, topic, broker, client or owner of a window.

    `verdict` is one sentence, `explanation` more about it. `unobserved` are sentences about what no log and no reading
    showed. `cost` is what it cost, `advice` what to do or to change, the most helpful first, `changes` the settings to
    change; `commands` show how things are now. `proof` are the lines that prove the verdict; where it has several
    parts, `parts` names the one that each line is about, by the id of the line. `sections` have more, and
    `tables` what programs ask next.
    """

    kind: str
    name: str
    anchor: str
    verdict: str
    confidence: str = ""
    state: figures.EndState | None = None
    explanation: str = ""
    unobserved: tuple[str, ...] = ()
    cost: tuple[ui.Fact, ...] = ()
    advice: tuple[str, ...] = ()
    changes: tuple[SettingChange, ...] = ()
    commands: tuple[str, ...] = ()
    proof: Sequence[Quote] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[ui.ShownSection, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The subject in words: `Group orders`; of an incident its headline."""
        return self.name if self.kind == "incident" else f"{self.kind.capitalize()} {self.name}"

    def view(self, page: PageRows) -> ui.View:
        """The answer as a view of the report."""
        title = plain.shortened(self.title, 240)
        address = "" if self.kind == "incident" else f"{self.kind}/{self.name}"
        return ui.View(self.anchor, title, tuple(self._sections(page)), ticket=tuple(self._ticket()), address=address)

    def data(self) -> dict[str, Any]:
        """The answer for programs."""
        return {
            "kind": self.kind,
            "name": self.name,
            "verdict": self.verdict,
            "confidence": self.confidence or None,
            "state": self.state,
            "explanation": self.explanation or None,
            "not_observed": list(self.unobserved),
            "cost": {fact.label: ui.plain_text(fact.value) for fact in self.cost},
            "advice": list(self.advice),
            "changes": [change.as_dict() for change in self.changes],
            "commands": list(self.commands),
            **self.tables,
            "evidence": [quote.as_dict() | self._part_of(quote) for quote in self.proof],
        }

    def _part_of(self, quote: Quote) -> dict[str, str]:
        return {"part": self.parts[quote.line_id]} if quote.line_id in self.parts else {}

    def _ticket(self) -> Iterator[ui.Words]:
        """The lines of a ticket: the verdict, how sure it is, what it cost, what to do, and the decisive line."""
        tags: list[ui.Words] = [end_state_badge(self.state)] if self.state else []
        tags += [ui.confidence_badge(self.confidence)] if self.confidence else []
        yield ((ui.join(tags, ", "), ": ") if tags else "", self.verdict)
        yield from (f"{fact.label}: {ui.plain_text(fact.value)}" for fact in self.cost[:TICKET_FACTS])
        if self.advice:
            yield f"To do: {self.advice[0]}"
        if self.commands:
            yield "See how it is now: ", ui.Badge(self.commands[0], "code")
        if self.proof:
            proof = self.proof[0]
            yield "Proof: ", ui.Name(proof.source), ": ", ui.Badge(plain.visible(proof.text), "code")

    def _sections(self, page: PageRows) -> Iterator[ui.ShownSection]:
        yield ui.ShownSection("answer", "", tuple(self._blocks()))
        yield from (section for section in self.sections if section.blocks)
        if self.proof:
            proof = page.evidence(self.proof, parts=self.parts)
            yield ui.ShownSection(
                "proof", "The lines that prove it", (ui.EvidenceLines(proof.quotes, proof.left_out, is_open=True),)
            )

    def _blocks(self) -> Iterator[ui.Block]:
        tags: list[ui.Words] = [end_state_badge(self.state)] if self.state else []
        tags += [ui.confidence_badge(self.confidence)] if self.confidence else []
        yield ui.Box("answer", (ui.Paragraph(self.verdict, "verdict"), ui.Paragraph(ui.join(tags, " · "), "tags")))
        if self.explanation:
            yield ui.Paragraph(self.explanation)
        yield from ui.note(f"Not observed: {' '.join(self.unobserved)}", self.unobserved)
        if self.cost:
            yield ui.Facts(self.cost)
        if self.advice:
            yield ui.Box("advice", (ui.Heading("What to do"), *(ui.Paragraph(sentence) for sentence in self.advice)))
        if self.changes:
            yield ui.Paragraph("Settings to change:", "quiet ask")
            yield ui.List(tuple(map(_change_item, self.changes)), "commands")
        if self.commands:
            yield ui.Paragraph("See how it is now:", "quiet ask")
            yield ui.List(tuple(ui.Item(ui.Badge(command, "code")) for command in self.commands), "commands")


def _change_item(change: SettingChange) -> ui.Item:
    """A setting with its value now and its new one, where it stands, how it is rolled out, and the command if any."""
    more = "; ".join(filter(None, (change.place, change.gain, change.how)))
    text = change.command or change.paste
    pasted = (" ", ui.Badge(text, "code")) if text else ()
    return ui.Item((ui.Strong(plain.shortened(change_words(change), 240)), " ", ui.Quiet(more), *pasted))


def end_state_badge(state: figures.EndState) -> ui.Badge:
    """The badge of whether an incident is over."""
    labels = {"over": "over", "ongoing": "not over", "unknown": "not known whether over"}
    return ui.Badge(labels[state], f"life {state}")


def incident_lines(page: PageRows, incidents: Sequence[Incident]) -> tuple[ui.Block, ...]:
    """Incidents, a line for each; those that are the same but for their time are one line. Empty without any."""
    items = tuple(_line(page, rows) for rows in figures.equal_incidents(incidents))
    return (ui.List(items, "incidents"),) if items else ()


def _line(page: PageRows, rows: Sequence[Incident]) -> ui.Item:
    first, others = rows[0], rows[1:]
    tags: list[ui.Words] = [ui.Badge(f"{len(rows)} times")] if others else []
    tags += [end_state_badge(figures.end_state_of(first)), *ui.badges(first.intent, figures.least_sure(rows))]
    if recurrence := page.recurrence(first):
        tags.append(ui.Badge(recurrence[0]))
    links = [ui.Link(ui.At(row.started_at), page.incident_anchor(row)) for row in others]
    more = f" and {len(links) - TIMES} more" if links[TIMES:] else ""
    label, owners = page.whose(first.group_ids, first.topics or ())
    also: ui.Words = (", ", ui.Quiet(("also at ", ui.join(links[:TIMES]), more))) if links else ""
    headline = ui.Link(phrases.incident_headline(first), page.incident_anchor(first))
    facts = [*tags, ui.Quiet(figures.harm_of(first).noun.label)]
    facts += [ui.Quiet(f"{label.lower()}: {owners}")] if owners else []
    parts: ui.Words = (ui.At(first.started_at), "  ", ui.Strong(headline), also, " · ", ui.join(facts, " · "))
    return ui.Item(parts, figures.needs(first))


def finding_items(page: PageRows, kind: str, names: Iterable[str]) -> tuple[ui.Block, ...]:
    """The findings about subjects of one kind, each with its advice; empty without any."""
    severities = [*FindingSeverity]
    rows = sorted(
        (f for name in names for f in page.rows_of(Finding, "subject", name) if f.subject_kind == kind),
        key=lambda f: (severities.index(f.severity), f.first_at, f.finding_id),
    )
    items = [
        ui.Item((ui.Link(f.message, plain.anchor("finding", f.finding_id)), f". {f.advice}"), f.severity.noun.grade)
        for f in rows
    ]
    return (ui.List(tuple(items), "statements"),) if items else ()
