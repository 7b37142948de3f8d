"""A browser tab on Airflow's own pages, whose frames are looked into as well."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.stack.standalone import USER, Standalone, until
from tests.support.report_browser import Browser, Message

_SETTLE = "new Promise(done => setTimeout(() => requestAnimationFrame(() => done(true)), 500))"


class Tab(Browser):
    """A tab that looks into frames, each a process of its own where it is in a sandbox.

    `framed` holds what their consoles said.
    """

    def __init__(self, program: str, profile: Path) -> None:
        self.frames: list[str] = []
        self.framed: list[str] = []
        super().__init__(program, profile)
        only = [{"type": "iframe"}, {"exclude": True}]
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True, filter=only)

    def log_in(self, airflow: Standalone) -> None:
        """Through the form, as people do."""
        self.open(f"{airflow.address}/auth/login")
        for name, text in (("username", USER), ("password", airflow.password)):
            until(lambda name=name: self.tell(f"!!document.querySelector('[name={name}]')"), name, 60)  # type: ignore[misc]
            self.tell(f"document.querySelector('[name={name}]').focus()")
            self.call("Input.insertText", text=text)
        self.press("Enter")
        until(lambda: self.tell("!location.pathname.startsWith('/auth')"), "the page behind the login", 60)

    def shows(self, text: str, within: float = 60) -> None:
        """Waits until a text is seen."""
        until(lambda: self.tell(f"document.body.innerText.includes({text!r})"), f"{text!r} on the page", within)
        self.tell(_SETTLE)

    def click(self, text: str) -> None:
        """Clicks the innermost thing that can be clicked and says this."""
        find = (
            "[...document.querySelectorAll('a, button, [role=menuitem], [role=tab]')]"
            f".filter(e => e.innerText?.trim() === {text!r} && e.offsetParent !== null).at(-1)"
        )
        until(lambda: self.tell(f"!!{find}"), f"{text!r} to click", 30)
        self.tell(f"{find}.click()")
        self.tell(_SETTLE)

    def in_frame(self, expression: str) -> Any:
        """The value of an expression in the last frame that came; None where none did yet.

        Edge case: word of a frame is read with the answer of a call, so that one is made while there is no frame.
        """
        if not self.frames:
            self.tell("true")
            return None
        page, self._session = self._session, self.frames[-1]
        try:
            return self.tell(expression)
        finally:
            self._session = page

    def _note(self, message: Message) -> None:
        before = len(self.said)
        super()._note(message)
        if message.get("sessionId") in self.frames:
            self.framed += self.said[before:]
        if message.get("method") == "Target.attachedToTarget" and self._session:
            self._follow(message["params"]["sessionId"])

    def _follow(self, session: str) -> None:
        """Listens to a frame and lets it go on. Answers are not waited for: whoever called waits for one of its own."""
        self.frames.append(session)
        for method in ("Runtime.enable", "Log.enable", "Runtime.runIfWaitingForDebugger"):
            self._count += 1
            os.write(
                self._out, json.dumps({"id": self._count, "method": method, "sessionId": session}).encode() + b"\0"
            )
