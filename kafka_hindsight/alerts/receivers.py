"""Sending, by Apprise and by HTTP. The one module that knows receivers' URLs; no URL is printed, logged or kept."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from kafka_hindsight.alerts.messages import Text
from kafka_hindsight.settings.alerts import Receiver
from kafka_hindsight.shared.exits import BadInput

PATIENCE = 10
"""Seconds within which a receiver has to answer."""

_SILENT = logging.CRITICAL + 1
"""Apprise's own log may quote a URL that it cannot use."""


class TextAddress:
    """The address of a receiver that people read.

    `storage` is a folder of this machine. Apprise keeps the ids of the alerts there that it opened in Opsgenie, so that
    another run closes them.
    """

    def __init__(self, receiver: str, url: str, storage: str | None = None) -> None:
        import apprise  # takes a second: imported only where there is something to send

        logging.getLogger("apprise").setLevel(_SILENT)
        self._book = apprise.Apprise(asset=apprise.AppriseAsset(storage_path=storage))
        if not self._book.add(url) or len(self._book) != 1:
            raise BadInput(
                f"The URL of receiver {receiver} cannot be used. Needed: one URL of Apprise, such as mailto://,"
                " slack:// or pagerduty://. Check it with `apprise -b test URL`; name a receiver for each."
            )

    def send(self, message: Text) -> str:
        """Send a message. Returns why the receiver did not get it; empty where it did."""
        from apprise import NotifyFormat, NotifyType

        severity, title, body = message
        kinds = {"critical": NotifyType.FAILURE, "warning": NotifyType.WARNING, "recovered": NotifyType.SUCCESS}
        kind = kinds.get(severity, NotifyType.INFO)
        try:
            is_sent = self._book.notify(title=title, body=body, notify_type=kind, body_format=NotifyFormat.TEXT)
        except Exception as problem:  # any failure means not delivered; its text may contain the URL
            return type(problem).__name__
        return "" if is_sent else "it did not accept the message"


class JsonAddress:
    """The address of a program. The user in its URL authenticates by basic authentication, a password alone by a token.

    Certificates and proxies are as requests finds them: REQUESTS_CA_BUNDLE, HTTPS_PROXY.
    """

    def __init__(self, receiver: str, url: str, path: str = "") -> None:
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
        self._url = urlunsplit(
            (parts.scheme, host, parts.path.rstrip("/") + path if path else parts.path, parts.query, "")
        )
        self._session = requests.Session()
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if user:
            self._session.auth = (user, password)
        elif password:
            self._session.auth = _Token(password)

    def send(self, message: Any) -> str:
        """Post a value. Returns why the receiver did not get it; empty where it did."""
        import requests

        try:
            answer = self._session.post(self._url, json=message, timeout=PATIENCE, allow_redirects=False)
        except requests.RequestException as problem:  # its text may contain the URL
            return type(problem).__name__
        return "" if 200 <= answer.status_code < 300 else f"HTTP {answer.status_code}"


class _Token:
    """Authentication by a bearer token; a header alone would give way to a file .netrc."""

    def __init__(self, token: str) -> None:
        self._header = f"Bearer {token}"

    def __call__(self, request: Any) -> Any:
        request.headers["Authorization"] = self._header
        return request


Address = TextAddress | JsonAddress


def address_of(receiver: Receiver, url: str, storage: str | None) -> Address:
    """The address of a receiver, by its kind. Raises: BadInput where the URL cannot be used."""
    match receiver.kind:
        case "webhook":
            return JsonAddress(receiver.name, url)
        case "alertmanager":
            return JsonAddress(receiver.name, url, "/api/v2/alerts")
    return TextAddress(receiver.name, url, storage)
