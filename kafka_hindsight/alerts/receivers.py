"""Sending, by Apprise. The one module that knows receivers' URLs; no URL is printed, logged or kept."""

from __future__ import annotations

import logging

from kafka_hindsight.shared.exits import BadInput

_SILENT = logging.CRITICAL + 1
"""Apprise's own log may quote a URL that it cannot use."""


class Address:
    """The address of a receiver.

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
                " slack://, pagerduty:// or json://. Check it with `apprise -b test URL`; name a receiver for each."
            )

    def send(self, severity: str, title: str, body: str) -> bool:
        """Send a message. Returns whether the receiver accepted it."""
        from apprise import NotifyFormat, NotifyType

        kinds = {"critical": NotifyType.FAILURE, "warning": NotifyType.WARNING, "recovered": NotifyType.SUCCESS}
        kind = kinds.get(severity, NotifyType.INFO)
        try:
            return bool(self._book.notify(title=title, body=body, notify_type=kind, body_format=NotifyFormat.TEXT))
        except Exception:  # any failure means not delivered; its text may contain the URL
            return False
