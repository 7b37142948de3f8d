"""The pages of a pager: one for alerts that belong together, which is over when all of them are."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.alerts.alert_model import Ledger, LedgerEntry, Sighting
from kafka_hindsight.shared.grouping import grouped


def new_pages(entries: Sequence[LedgerEntry]) -> list[list[LedgerEntry]]:
    """Alerts by page, in the order given: those of one night that share a broker, a topic or a group are one page."""
    pages: list[list[LedgerEntry]] = []
    for entry in entries:
        related = [page for page in pages if any(_belong_together(e.sighting, entry.sighting) for e in page)]
        if related:
            related[0] += [*(e for page in related[1:] for e in page), entry]
            pages = [page for page in pages if page is related[0] or page not in related]
        else:
            pages.append([entry])
    return pages


def _belong_together(one: Sighting, other: Sighting) -> bool:
    is_one_night = (one.cluster, one.night_from, one.night_to) == (other.cluster, other.night_from, other.night_to)
    is_related = any(
        set(ours) & set(theirs)
        for ours, theirs in ((one.brokers, other.brokers), (one.topics, other.topics), (one.groups, other.groups))
    )
    return is_one_night and is_related


def ended_pages(ledger: Ledger, due: Sequence[LedgerEntry], receiver: str) -> list[list[LedgerEntry]]:
    """The pages of a pager that are over: all of their alerts are.

    Args:
        ledger: All alerts.
        due: Those that the pager has got, and that ended since then.
        receiver: The name of the pager.
    """
    ended = {_page_key(entry, receiver) for entry in due}
    pages = grouped(
        (entry for entry in ledger.values() if receiver in entry.sent), lambda entry: _page_key(entry, receiver)
    )
    return [page for key, page in pages.items() if key in ended and all(entry.ended_at for entry in page)]


def _page_key(entry: LedgerEntry, receiver: str) -> tuple[str, ...]:
    """The title and the night of an alert's page. A ledger of an earlier version has a page for each alert."""
    title = entry.pages.get(receiver, "")
    return (title, f"{entry.sighting.night_to}") if title else (entry.sighting.key,)
