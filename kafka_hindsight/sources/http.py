"""Questions to a server that answers in JSON."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.model import SourceFails

_PATIENCE = 120
"""Seconds for one answer."""
_QUOTED = 300
_TRIED_AGAIN = (408, 429)
"""Refusals that a later try may not meet, beside the server's own faults."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Headers hold secrets: they go to no other server than the one that was named."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """A server, with the headers that each question has."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Raises: BadInput where it is not a URL of HTTP, or holds a password."""
        told = urlsplit(url)
        if told.scheme not in ("http", "https") or "@" in told.netloc or not told.netloc:
            raise BadInput(f"url is {masked(url)}. Needed: http:// or https:// and a host; secrets go into headers.")
        self.url = url.rstrip("/")
        self.headers = {**headers, "Accept": "application/json", "Content-Type": "application/json"}
        self.opener = urllib.request.build_opener(_NoRedirect)

    def ask(self, method: str, path: str, asked: Mapping[str, Any] | None = None, body: Any = None) -> Any:
        """The answer. Takes: `asked`, for the URL; `body`, for JSON.

        Raises: BadInput where the server refuses the question; SourceFails where it does not answer.
        """
        where = f"{self.url}/{path}"
        data = None if body is None else json.dumps(body).encode()
        query = f"?{urlencode(asked)}" if asked else ""
        try:
            request = urllib.request.Request(where + query, data, self.headers, method=method)
            with self.opener.open(request, timeout=_PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            said = self._masked(refusal.read(_QUOTED).decode(errors="replace"))
            what = f"{where} answers {refusal.code} to {method}: {said or refusal.reason}."
            if refusal.code >= 500 or refusal.code in _TRIED_AGAIN:
                raise SourceFails(f"{what} Needed: an answer. The next try goes on.") from None
            raise BadInput(f"{what} Needed: a question that it takes. Check url, query and headers.") from None
        except (OSError, HTTPException, ValueError) as failure:
            why = self._masked(str(failure))
            raise SourceFails(f"{where} gives no answer: {why}. Needed: JSON. The next try goes on.") from None

    def _masked(self, text: str) -> str:
        for value in sorted(self.headers.values(), key=len, reverse=True):
            text = text.replace(value, "***") if value != "application/json" else text
        return text
