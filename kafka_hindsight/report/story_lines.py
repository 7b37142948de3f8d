"""A story in words: the incident that began it, and what followed from what, each with a link and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.measures.stories import Story, StoryLink
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import incident_headline, origin_of


def story_sentence(page: PageRows, incident: Incident) -> ui.Words:
    """The sentence about what led to an incident: its root by name, then each step; empty where it is in no story."""
    story = page.story_of.get(incident.incident_id)
    links = story.before(incident.incident_id) if story else ()
    if not story or not links:
        return ""
    root = next(i for i in story.incidents if i.incident_id in {link.cause_id for link in links})
    steps = dict.fromkeys(link.so for link in links)
    opening = ui.Link(_origin_of(root), page.incident_anchor(root))
    return " It began when ", opening, f", so {', and '.join(steps)}."


def _origin_of(root: Incident) -> str:
    """The origin of a story with its time, as the headline of its first incident says it."""
    headline = incident_headline(root)
    return origin_of(root) or f"{headline[:1].lower()}{headline[1:]}"


def story_blocks(page: PageRows, incident: Incident) -> Iterator[ui.Block]:
    """The whole story of an incident in order of time, and the lines that prove each step."""
    story = page.story_of.get(incident.incident_id)
    if story:
        yield ui.List(tuple(_item(page, i, story, incident) for i in story.incidents), "moments")
        quotes = {quote.line_id: quote for link in story.links for quote in link.proof}
        yield page.evidence([*quotes.values()], "The lines that join them")


def _item(page: PageRows, incident: Incident, story: Story, own: Incident) -> ui.Item:
    headline = incident_headline(incident)
    is_own = incident.incident_id == own.incident_id
    name: ui.Words = ui.Strong(headline) if is_own else ui.Link(headline, page.incident_anchor(incident))
    steps = dict.fromkeys(link.so for link in story.links if link.effect_id == incident.incident_id)
    why = f": {', and '.join(steps)}" if steps else ", which began it" if incident in story.roots else ""
    return ui.Item((ui.At(incident.started_at), "  ", name, ui.Quiet(why)))


def story_data(story: Story) -> Sequence[dict[str, str]]:
    """The steps of a story for programs."""
    return [_step(link) for link in story.links]


def _step(link: StoryLink) -> dict[str, str]:
    return {"cause": link.cause_id, "effect": link.effect_id, "rule": link.rule, "so": link.so}
