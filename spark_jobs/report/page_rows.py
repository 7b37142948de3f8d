"""The rows of one window with all that the blocks look up in them more than once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any

from spark_jobs.catalog import BY_NAME
from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import Evidence, Link, Quote

Row = Mapping[str, Any]

# The tables a report is made of; rows of others are not looked at.
READS = (
    "gold.rebalances",
    "gold.incidents",
    "gold.remedies",
    "gold.broker_outages",
    "gold.rolling_restarts",
    "gold.failovers",
    "gold.truncations",
    "gold.partition_risks",
    "gold.loss_simulations",
    "gold.isr_changes",
    "gold.out_of_sync_periods",
    "gold.coordinator_moves",
    "gold.controller_changes",
    "gold.leader_imbalance",
    "gold.leader_balance",
    "gold.imbalance_periods",
    "gold.lag_verdicts",
    "gold.findings",
    "quality.coverage",
    "quality.unparsed_lines",
    "quality.quarantine",
    "quality.generation_gaps",
    "quality.leadership_gaps",
    "quality.validation_results",
)

QUOTES_PER_ROW = 12
# With more quotations than this a page no longer opens at once: each row then shows fewer and counts the others.
QUOTES_PER_PAGE = 14_000


@dataclass(frozen=True)
class Night:
    """The rows of a window, harmless and by full table name, and the run that made them."""

    tables: Mapping[str, Sequence[Row]]
    run: Row

    @classmethod
    def of(cls, tables: Mapping[str, Sequence[Row]], run: Row) -> Night:
        """The night of these rows. Raises ValueError for a table that the catalog does not hold."""
        strange = sorted(set(tables) - set(BY_NAME))
        if strange:
            raise ValueError(f"the catalog holds no table {', '.join(strange)}; a report takes rows by full table name")
        return cls({name: plain.harmless(tables.get(name, ())) for name in READS}, plain.harmless(run))

    def rows(self, table: str) -> Sequence[Row]:
        """The rows of a table; none where it was not given."""
        return self.tables.get(table, ())

    @cached_property
    def window(self) -> tuple[datetime, datetime]:
        """The first instant of the window and its end."""
        return self.run["window_from"].astimezone(UTC), self.run["window_to"].astimezone(UTC)

    @cached_property
    def day(self) -> date | None:
        """The one date of the window; None where it holds several."""
        first, end = self.window
        last = max(first, end - timedelta(microseconds=1))
        return first.date() if first.date() == last.date() else None

    def place(self, at: datetime) -> float:
        """Where an instant lies in the window, in percent, kept inside it."""
        first, end = self.window
        span = (end - first).total_seconds()
        if span <= 0:
            return 0.0
        return min(100.0, max(0.0, 100 * (at - first).total_seconds() / span))

    @cached_property
    def incidents(self) -> Mapping[str, Row]:
        """Incidents by id."""
        return {row["incident_id"]: row for row in self.rows("gold.incidents")}

    @cached_property
    def outages(self) -> Mapping[str, Row]:
        """Broker outages by id, in order of time."""
        rows = sorted(self.rows("gold.broker_outages"), key=lambda r: (r["down_at"], r["broker"], r["outage_id"]))
        return {row["outage_id"]: row for row in rows}

    @cached_property
    def failovers(self) -> Sequence[Row]:
        """Changes of leaders in order of time."""
        return sorted(
            self.rows("gold.failovers"), key=lambda r: (r["happened_at"], r["topic"], r["partition"], r["failover_id"])
        )

    @cached_property
    def rebalances(self) -> Sequence[Row]:
        """Rebalances in order of time."""
        return sorted(self.rows("gold.rebalances"), key=lambda r: (r["started_at"], r["group_id"], r["rebalance_id"]))

    @cached_property
    def rebalances_of(self) -> Mapping[str, Sequence[Row]]:
        """Rebalances of each incident, in order of time."""
        found: defaultdict[str, list[Row]] = defaultdict(list)
        for row in self.rebalances:
            if row["incident_id"]:
                found[row["incident_id"]].append(row)
        return found

    @cached_property
    def rebalances_of_group(self) -> Mapping[str, Sequence[Row]]:
        """Rebalances of each group, in order of time."""
        found: defaultdict[str, list[Row]] = defaultdict(list)
        for row in self.rebalances:
            found[row["group_id"]].append(row)
        return found

    @cached_property
    def incidents_of(self) -> Mapping[str, Sequence[Row]]:
        """Incidents behind which an outage stands, by its id, in order of time."""
        found: defaultdict[str, list[Row]] = defaultdict(list)
        for row in sorted(self.rows("gold.incidents"), key=lambda r: (r["started_at"], r["incident_id"])):
            if row.get("outage_id") in self.outages:
                found[row["outage_id"]].append(row)
        return found

    def is_planned(self, rebalance: Row) -> bool:
        """Whether a rebalance belongs to planned work."""
        incident = self.incidents.get(rebalance["incident_id"] or "")
        return bool(incident and incident["planned"])

    def outage_link(self, outage_id: str | None) -> Link | None:
        """The way to an outage; None where it is not in this window."""
        outage = self.outages.get(outage_id or "")
        return Link(f"broker {outage['broker']}", plain.anchor("outage", outage["outage_id"])) if outage else None

    @cached_property
    def _quotes_per_row(self) -> int:
        tables = ("gold.rebalances", "gold.incidents", "gold.failovers", "gold.findings")
        proven = sum(len(self.rows(table)) for table in tables)
        return max(2, min(QUOTES_PER_ROW, QUOTES_PER_PAGE // max(1, proven)))

    def evidence(self, row: Row) -> Evidence:
        """What a row quotes: the first lines and the last, as many as the page can hold."""
        items = row["evidence"]
        kept = items
        if len(items) > self._quotes_per_row:
            kept = [*items[: self._quotes_per_row - 1], items[-1]]
        quotes = tuple(Quote(q["happened_at"], q["source"], q["text"]) for q in kept)
        return Evidence(quotes, len(items) - len(quotes))


def outage_words(outage: Row) -> str:
    """What became of a broker, as sure as that is: `broker 2 was cut off`, `broker 3 probably crashed`."""
    return (
        f"broker {outage['broker']} {vocabulary.HEDGES[outage['confidence']]}{vocabulary.OUTAGE_VERBS[outage['kind']]}"
    )


def outage_at(night: Night, outage: Row) -> str:
    """What became of a broker, and when: `broker 2 was cut off at 02:13`."""
    return f"{outage_words(outage)} at {words.minute(outage['down_at'], night.day)}"


def who(row: Row) -> str:
    """A member as a person knows it: its client id, its instance id, else its member id."""
    client, instance, member = row.get("client_id"), row.get("instance_id"), row.get("member_id")
    if client and instance and client != instance:
        return f"{plain.shortened(client)} (instance {plain.shortened(instance)})"
    return plain.shortened(client or instance or member or "")
