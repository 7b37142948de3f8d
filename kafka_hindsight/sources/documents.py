"""Logs in Elasticsearch or OpenSearch: search_after within a point in time, landed as elasticdump writes them.

Source: Elasticsearch's reference, "Paginate search results" and "Open point in time"; OpenSearch's documentation,
"Point in time" and "Paginate results".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kafka_hindsight.shared.instants import micros_of
from kafka_hindsight.sources.http import Server
from kafka_hindsight.sources.model import Batch, Line, Period, SourceFails, written_by
from kafka_hindsight.sources.ties import Ties

_SIZE = 2_000
_ALIVE = "10m"

Hit = Mapping[str, Any]


@dataclass(frozen=True)
class Elasticsearch:
    """`url`, `index` (a pattern), `query` (Query DSL), `headers` such as Authorization; `time` is the field of time."""

    url: str
    index: str
    query: Mapping[str, Any] = field(default_factory=lambda: {"match_all": {}})
    headers: Mapping[str, str] = field(default_factory=dict)
    time: str = "@timestamp"

    opened: ClassVar[tuple[str, str]] = ("_pit", "id")
    """Behind the index, where a point in time is opened; and what its id is called in the answer."""

    ties: ClassVar[Sequence[str]] = ("_shard_doc",)
    """By what documents of one instant are told apart within a point in time."""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """One point in time, page after page in the order of time; what an earlier reading took is left."""
        server, ties = Server(self.url, self.headers), Ties[Line](position)
        path, name = self.opened
        pit = server.ask("POST", f"{self.index}/{path}", {"keep_alive": _ALIVE})[name]
        asked = self._asked(micros_of(period.since) // 1000 if ties.at is None else ties.at, period)
        count, total = 0, None
        try:
            while True:
                answer = server.ask("POST", "_search", None, {**asked, "pit": {"id": pit, "keep_alive": _ALIVE}})
                pit, hits = answer.get("pit_id", pit), answer["hits"]["hits"]
                total = answer["hits"]["total"]["value"] if total is None else total
                count += len(hits)
                self._complete(answer, hits, count, total)
                if not hits:
                    return
                lines = list(ties.new((hit["sort"][0], _known_by(hit), _line(hit)) for hit in hits))
                yield Batch(lines, ties.position)
                asked |= {"search_after": hits[-1]["sort"], "track_total_hits": False}
        finally:
            self._close(server, pit)

    def _asked(self, since: int, period: Period) -> dict[str, Any]:
        until = micros_of(period.until) // 1000
        between = {"range": {self.time: {"gte": since, "lt": until, "format": "epoch_millis"}}}
        order = [
            {self.time: {"order": "asc", "numeric_type": "date"}},
            {"log.offset": {"order": "asc", "unmapped_type": "long"}},
            *({name: "asc"} for name in self.ties),
        ]
        query = {"bool": {"filter": [between, self.query]}}
        return {"size": _SIZE, "query": query, "sort": order, "track_total_hits": True}

    def _complete(self, answer: Any, hits: Sequence[Hit], count: int, total: int) -> None:
        """Raises: SourceFails where an answer lacks documents: shards that failed, or pages that skipped some."""
        failed = answer.get("_shards", {}).get("failed", 0)
        if failed or answer.get("timed_out") or (not hits and count != total):
            raise SourceFails(
                f"{self.url} gave {count} of {total} documents, and {failed} shards failed. Needed: all. The next try"
                " goes on."
            )

    def _close(self, server: Server, pit: str) -> None:
        server.ask("DELETE", "_pit", None, {"id": pit})


@dataclass(frozen=True)
class OpenSearch(Elasticsearch):
    """The same of OpenSearch, which has other names for a point in time, and `_shard_doc` only since 3.3."""

    opened = ("_search/point_in_time", "pit_id")
    ties = ("_doc", "_id")

    def _close(self, server: Server, pit: str) -> None:
        server.ask("DELETE", "_search/point_in_time", None, {"pit_id": [pit]})


def _known_by(hit: Hit) -> bytes:
    return f"{hit['_index']}/{hit['_id']}".encode()


def _line(hit: Hit) -> Line:
    text = json.dumps({name: hit[name] for name in ("_index", "_id", "_source")}).encode()
    return Line(written_by(hit["_source"]) or hit["_index"], text)
