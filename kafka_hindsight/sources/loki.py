"""Logs in Loki: query_range, forward in time, landed as `logcli query -o jsonl` writes them.

Source: Loki's HTTP API, query logs within a range of time: start is inclusive, end exclusive, direction forward gives
the oldest entries first, limit counts the entries of all streams.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import micros_of
from kafka_hindsight.sources.http import Server
from kafka_hindsight.sources.model import Batch, Line, Period, written_by
from kafka_hindsight.sources.ties import Ties

_LIMIT = 5_000
"""Loki's own default of max_entries_limit_per_query."""

_OF_LINES = ("detected_level", "level")
"""Labels that Loki finds in single lines: they say nothing of who wrote them."""

Entry = tuple[int, bytes, Line]


@dataclass(frozen=True)
class Loki:
    """`url`, `query` in LogQL, and `headers` such as Authorization and X-Scope-OrgID."""

    url: str
    query: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Page after page, each from the instant of the last entry on: what has that instant and was taken is left."""
        server, ties = Server(self.url, self.headers), Ties[Line](position)
        begin, end = micros_of(period.since) * 1000, micros_of(period.until) * 1000
        while (start := begin if ties.at is None else ties.at) < end:
            asked = {"query": self.query, "start": start, "end": end, "limit": _LIMIT, "direction": "forward"}
            entries = _entries(server.ask("GET", "loki/api/v1/query_range", asked))
            lines = list(ties.new(entries))
            yield Batch(lines, ties.position)
            if len(entries) < _LIMIT:
                return
            if not lines:
                raise BadInput(
                    f"Loki holds {_LIMIT} entries or more of one instant, {_instant(start)}. Needed: fewer, since pages"
                    " are told apart by instants. Make a source for each pod with a narrower query."
                )


def _entries(answer: Any) -> list[Entry]:
    """The entries of all streams in the order of time."""
    data = answer.get("data", {})
    if data.get("resultType") != "streams":
        raise BadInput(
            f"The query gives {data.get('resultType')!r}. Needed: one that gives lines, no figures. Mend it."
        )
    found = [_entry(stream["stream"], int(at), line) for stream in data["result"] for at, line, *_ in stream["values"]]
    return sorted(found, key=lambda entry: entry[0])


def _entry(labels: Mapping[str, str], at: int, line: str) -> Entry:
    text = json.dumps({"labels": labels, "line": line, "timestamp": _instant(at)}, sort_keys=True).encode()
    names = (f"{name}-{value}" for name, value in sorted(labels.items()) if name not in _OF_LINES)
    return at, text, Line(written_by({"labels": labels}) or "/".join(names), text)


def _instant(nanos: int) -> str:
    return f"{datetime.fromtimestamp(nanos // 10**9, UTC):%Y-%m-%dT%H:%M:%S}.{nanos % 10**9:09d}Z"
