"""Receivers of messages, by Apprise's URLs. The one module that knows them; no URL is printed, logged or kept."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from typing import Any

from kafka_hindsight.shared.exits import BadInput

_SILENT = logging.CRITICAL + 1
"""Apprise's own log may quote a URL that it cannot use."""


class Receivers:
    """Those that a text names, under names that hold no secret and stay the same from run to run.

    `kept_in` is a folder of this machine. Apprise keeps the ids of the alerts there that it opened in Opsgenie, so that
    another run closes them.
    """

    def __init__(self, route: str, urls: str, kept_in: str | None = None) -> None:
        import apprise  # a second, spent only where there is something to send

        logging.getLogger("apprise").setLevel(_SILENT)
        book: Any = apprise.Apprise(asset=apprise.AppriseAsset(storage_path=kept_in))
        if not book.add(urls) or not len(book):
            raise BadInput(
                f"The receivers of route {route} cannot be used. Needed: one or more URLs of Apprise, separated by "
                "commas, such as mailto://, slack://, pagerduty:// or json://. Check each by itself with "
                "`apprise -b test URL`."
            )
        self._servers: dict[str, Any] = {}
        counts: Counter[str] = Counter()
        for server in book:
            stem = hashlib.sha256(server.url(privacy=True).encode()).hexdigest()[:12]
            counts[stem] += 1
            self._servers[f"{stem}-{counts[stem]}"] = server

    @property
    def names(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self._servers)

    def send(self, name: str, severity: str, title: str, body: str) -> bool:
        """Whether the receiver of that name took the message."""
        import apprise

        kind = {
            "critical": apprise.NotifyType.FAILURE,
            "warning": apprise.NotifyType.WARNING,
            "recovered": apprise.NotifyType.SUCCESS,
        }
        one = apprise.Apprise()
        one.add(self._servers[name])
        try:
            return bool(
                one.notify(
                    title=title,
                    body=body,
                    notify_type=kind.get(severity, apprise.NotifyType.INFO),
                    body_format=apprise.NotifyFormat.TEXT,
                )
            )
        except Exception:  # a receiver that fails in whatever way has not been told; the words may hold its address
            return False
