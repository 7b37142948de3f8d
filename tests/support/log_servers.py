"""Stand-ins for servers of logs. Each refuses a request that the documentation of its API does not allow."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Answer = tuple[int, Any]
Asked = Callable[[str, str, Mapping[str, str], Any, Message], Answer]
"""Takes the method, the path, the query of the URL, the body and the headers of a request."""


@contextmanager
def served(asked: Asked) -> Iterator[str]:
    """A server on this machine. Gives: its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(told.query).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            code, said = asked(self.command, unquote(told.path), query, json.loads(body or b"null"), self.headers)
            self.send_response(code)
            if code == 302:
                self.send_header("Location", said)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        do_POST = do_DELETE = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class LokiStandIn:
    """Loki's `query_range`: entries by their labels, in nanoseconds."""

    def __init__(self, entries: Sequence[tuple[Mapping[str, str], int, str]], query: str, headers: Mapping[str, str]):
        self.entries = sorted(entries, key=lambda entry: entry[1])
        self.query, self.headers = query, headers
        self.pages = 0

    def __call__(self, method: str, path: str, query: Mapping[str, str], _: Any, headers: Message) -> Answer:
        if method not in ("GET", "POST") or path != "/loki/api/v1/query_range":
            return 404, "404 page not found"
        if any(headers.get(name) != value for name, value in self.headers.items()):
            return 401, "no org id"
        if set(query) - {"query", "limit", "start", "end", "since", "step", "interval", "direction"}:
            return 400, "unknown parameter"
        if query["query"] != self.query:
            return 400, "parse error at line 1, col 1: syntax error"
        start, end, limit = (int(query[name]) for name in ("start", "end", "limit"))
        if limit > 5000 or end < start:
            return 400, "max entries limit per query exceeded, limit > max_entries_limit"
        self.pages += 1
        found = [entry for entry in self.entries if start <= entry[1] < end]
        taken = found[:limit] if query.get("direction") == "forward" else found[::-1][:limit]
        streams: dict[str, list[list[str]]] = {}
        for labels, at, line in taken:
            streams.setdefault(json.dumps(labels, sort_keys=True), []).append([str(at), line])
        result = [{"stream": json.loads(labels), "values": values} for labels, values in sorted(streams.items())]
        return 200, {"status": "success", "data": {"resultType": "streams", "result": result, "stats": {}}}


class DocumentsStandIn:
    """`_search` of Elasticsearch, or of OpenSearch before 3.3, within points in time.

    Documents have an index, an id and a source. `failed`: so many answers name a shard that failed.
    """

    def __init__(self, documents: Sequence[Mapping[str, Any]], is_opensearch: bool) -> None:
        self.documents, self.is_opensearch = list(documents), is_opensearch
        self.open: dict[str, list[Mapping[str, Any]]] = {}
        self.failed = 0

    def __call__(self, method: str, path: str, query: Mapping[str, str], body: Any, _: Message) -> Answer:
        opens = "/_search/point_in_time" if self.is_opensearch else "/_pit"
        if method == "POST" and path.endswith(opens) and "keep_alive" in query:
            pit = f"pit-{len(self.open)}"
            self.open[pit] = list(self.documents)
            return 200, {"pit_id": pit, "creation_time": 1} if self.is_opensearch else {"id": pit}
        if method == "DELETE" and path == opens:
            for pit in body["pit_id"] if self.is_opensearch else [body["id"]]:
                del self.open[pit]
            return 200, {"succeeded": True}
        return self._search(body) if (method, path) == ("POST", "/_search") else (400, "no handler found for uri")

    def _search(self, body: Mapping[str, Any]) -> Answer:
        sort = [(name, how) for each in body["sort"] for name, how in each.items()]
        known = ("_doc", "_id") if self.is_opensearch else ("_shard_doc", "_doc")
        for name, how in sort:
            if name not in ("@timestamp", *known) and "unmapped_type" not in how:
                return 400, f"No mapping found for [{name}] in order to sort on"
        if body["size"] > 10_000 or body["pit"]["id"] not in self.open:
            return 404, "search_context_missing_exception"
        between, also = body["query"]["bool"]["filter"]
        limits = between["range"]["@timestamp"]
        assert limits["format"] == "epoch_millis" and also
        every = enumerate(self.open[body["pit"]["id"]])
        found = [(n, d) for n, d in every if limits["gte"] <= d["_source"]["@timestamp"] < limits["lt"]]
        hits = sorted(
            ({**d, "sort": [_key(name, n, d) for name, _ in sort]} for n, d in found), key=lambda h: h["sort"]
        )
        page = [h for h in hits if "search_after" not in body or h["sort"] > body["search_after"]][: body["size"]]
        self.failed, failed = max(self.failed - 1, 0), min(self.failed, 1)
        total = {"total": {"value": len(hits), "relation": "eq"}} if body["track_total_hits"] else {}
        shards = {"total": 2, "successful": 2 - failed, "failed": failed}
        answer = {"timed_out": False, "_shards": shards, "hits": {**total, "hits": page}}
        return 200, {"pit_id": body["pit"]["id"], **answer}


def _key(name: str, number: int, document: Mapping[str, Any]) -> Any:
    source = document["_source"]
    offset = source.get("log", {}).get("offset", 2**63 - 1)
    told = {"@timestamp": source["@timestamp"], "log.offset": offset, "_id": document["_id"]}
    return told.get(name, number if name == "_shard_doc" else number // 2)


class CloudWatchStandIn:
    """`FilterLogEvents` of CloudWatch Logs: events of all streams in the order of time, in pages of which each second
    one is empty. `refused`: what so many questions get instead, the first ones.
    """

    def __init__(self, group: str, events: Sequence[tuple[str, int, str]], size: int, *refused: tuple[int, str, str]):
        told = [
            {"logStreamName": stream, "timestamp": at, "message": text, "ingestionTime": at, "eventId": f"{n:056d}"}
            for n, (stream, at, text) in enumerate(events)
        ]
        self.events: list[dict[str, Any]] = sorted(told, key=lambda e: e["timestamp"])
        self.group, self.size, self.refused = group, size, list(refused)

    def __call__(self, method: str, path: str, _: Mapping[str, str], body: Any, headers: Message) -> Answer:
        if (method, path, headers["X-Amz-Target"]) != ("POST", "/", "Logs_20140328.FilterLogEvents"):
            return 400, {"__type": "UnknownOperationException"}
        if not headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=key/"):
            return 400, {"__type": "UnrecognizedClientException", "message": "The security token is invalid."}
        if self.refused:
            code, kind, said = self.refused.pop(0)
            return code, {"__type": kind, "message": said}
        if body["logGroupName"] != self.group:
            return 400, {"__type": "ResourceNotFoundException", "message": "The specified log group does not exist."}
        if body["startTime"] > body["endTime"]:
            return 400, {"__type": "InvalidParameterException", "message": "startTime is behind endTime"}
        found = [
            e
            for e in self.events
            if body["startTime"] <= e["timestamp"] <= body["endTime"]
            and e["logStreamName"].startswith(body.get("logStreamNamePrefix", ""))
        ]
        begin, is_empty = json.loads(body.get("nextToken", "[0, false]"))
        end = begin if is_empty else begin + self.size
        more = {"nextToken": json.dumps([end, not is_empty])} if end < len(found) else {}
        return 200, {"events": found[begin:end], "searchedLogStreams": [], **more}
