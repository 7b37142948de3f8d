"""Sending, by Apprise and by HTTP. The one module that knows receivers' URLs; no URL is printed, logged or kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from kafka_hindsight.settings.alerts import Receiver
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start.extras import require_extra

PATIENCE = 10
"""Seconds within which a program has to answer."""

_SILENT = logging.CRITICAL + 1
"""Apprise's own log may quote a URL that it cannot use."""

Send = Callable[[Any], str]
"""Sends a message of the receiver's kind. Returns why the receiver did not get it; empty where it did."""


def sender(receiver: Receiver, url: str, storage: str | None) -> Send:
    """The function that sends to a receiver.

    `storage` is a folder of this machine. Apprise keeps the ids of the alerts there that it opened in Opsgenie, so that
    another run closes them.

    Raises:
        BadInput: The URL cannot be used.
    """
    if receiver.kind in ("page", "digest"):
        return _text_sender(receiver.name, url, storage)
    return _json_sender(receiver.name, url, "/api/v2/alerts" if receiver.kind == "alertmanager" else "")


def _text_sender(receiver: str, url: str, storage: str | None) -> Send:
    require_extra("alerts", "A receiver that is not a webhook")
    import apprise  # takes a second: imported only where there is something to send

    logging.getLogger("apprise").setLevel(_SILENT)
    book = apprise.Apprise(asset=apprise.AppriseAsset(storage_path=storage))
    if not book.add(url) or len(book) != 1:
        raise BadInput(
            f"The URL of receiver {receiver} cannot be used. Needed: one URL of Apprise, such as mailto://,"
            " slack:// or pagerduty://. Check it with `apprise -b test URL`; name a receiver for each."
        )
    types = apprise.NotifyType
    kinds = {"critical": types.FAILURE, "warning": types.WARNING, "recovered": types.SUCCESS}

    def send(message: Any) -> str:
        severity, title, body = message
        kind, form = kinds.get(severity, types.INFO), apprise.NotifyFormat.TEXT
        try:
            is_sent = book.notify(title=title, body=body, notify_type=kind, body_format=form)
        except Exception as problem:  # any failure means not delivered; its text may contain the URL
            return type(problem).__name__
        return "" if is_sent else "it did not accept the message"

    return send


def _json_sender(receiver: str, url: str, path: str) -> Send:
    """Send by POST: with basic authentication where the URL has a user, and a bearer token where only a password."""
    import requests

    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:
        host = ""
    if not host:
        raise BadInput(
            f"The URL of receiver {receiver} cannot be used. Needed: http:// or https://, with user:password@ or"
            " :token@ before the host where it asks for them. Correct it."
        )
    address = urlunsplit((parts.scheme, host, parts.path.rstrip("/") + path if path else parts.path, parts.query, ""))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")

    def authorize(request: Any) -> Any:
        # A header alone would give way to a file .netrc.
        request.headers["Authorization"] = f"Bearer {password}"
        return request

    auth = (user, password) if user else authorize if password else None

    def send(message: Any) -> str:
        try:
            answer = requests.post(address, json=message, auth=auth, timeout=PATIENCE, allow_redirects=False)
        except requests.RequestException as problem:  # its text may contain the URL
            return type(problem).__name__
        return "" if 200 <= answer.status_code < 300 else f"HTTP {answer.status_code}"

    return send
