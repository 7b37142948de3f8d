"""A real Chromium, spoken to through its DevTools protocol over two pipes: nothing to install, no port to open."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

Message = dict[str, Any]

TRACES = 5
"""The most traces of one expression."""
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
"""Two frames after now: what was asked for is drawn."""


def found() -> str | None:
    """Where a Chromium lies; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab of a browser of its own. `asked` holds every address it asked for, `said` what its console said."""

    def __init__(self, program: str, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        self._out, self._in = ours[1], theirs[0]

        def hand_over() -> None:
            # Chromium reads from descriptor 3 and writes to 4; both are copied out of the way first.
            reads, writes = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=hand_over,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._count = 0
        self._unread = b""
        self._session = ""
        self._events: list[Message] = []
        self.asked: list[str] = []
        self.said: list[str] = []
        (tab,) = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=tab["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Closes the browser by its own command: one that is terminated leaves a folder among temporary files."""
        with suppress(BrokenPipeError):
            os.write(self._out, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def call(self, method: str, **params: Any) -> Message:
        """What the browser answers. Raises: RuntimeError with its words where it refuses."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": params}
        os.write(
            self._out, json.dumps(asked | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        answer = self._until(lambda message: message.get("id") == asked["id"])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def open(
        self, address: str, width: int = 1280, height: int = 900, scheme: str = "light", script: bool = True
    ) -> None:
        """Opens a page in a window of this size and a colour scheme, and waits until it is there."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._events.clear()
        self.call("Page.navigate", url="about:blank")
        self._until_event("Page.loadEventFired")
        self.asked.clear()
        self.said.clear()
        self.call("Page.navigate", url=address)
        self._until_event("Page.loadEventFired")

    def tell(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for. Raises: RuntimeError where it throws."""
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"]))
        return said["result"].get("value")

    def becomes(self, condition: str) -> bool:
        """Whether a condition holds in the page, or begins to within two minutes."""
        return bool(
            self.tell(
                "new Promise(done => { const end = performance.now() + 12e4; const look = () => "
                f"({condition}) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 50);"
                " look(); })"
            )
        )

    def show(self, address: str) -> None:
        """Goes to an address in the page that is open, and waits until its view is drawn. Raises: TimeoutError."""
        view = address.partition("?")[0].partition("/")[0]
        self.tell(f"location.hash = {json.dumps(address)}")
        if not self.becomes(f"document.querySelector('main').dataset.view === {json.dumps(view)}"):
            raise TimeoutError(f"The page does not show {view}.")
        self.tell(DRAWN)

    def longest_task_ms(self, expression: str) -> float:
        """The processor time of the longest task of the page's own thread while it evaluates an expression.

        A trace of a busy machine may lack the thread's tasks: then the expression is evaluated again.
        """
        for _ in range(TRACES):
            if durations := self._task_durations(expression):
                return max(durations) / 1_000
        raise AssertionError(f"None of {TRACES} traces has a task of the page's own thread.")

    def _task_durations(self, expression: str) -> list[float]:
        """The processor time in microseconds of each task of the page's own thread, by one trace."""
        config = {"includedCategories": ["toplevel"]}
        self.call("Tracing.start", transferMode="ReportEvents", traceConfig=config)
        self.tell(expression)
        self._events.clear()
        self.call("Tracing.end")
        if not any(e["method"] == "Tracing.tracingComplete" for e in self._events):
            self._until(lambda message: message.get("method") == "Tracing.tracingComplete")
        traced = [e for m in self._events if m["method"] == "Tracing.dataCollected" for e in m["params"]["value"]]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in traced if e["name"] == "thread_name"}
        own = [
            e for e in traced if names.get((e["pid"], e["tid"])) == "CrRendererMain" and e["name"].endswith("RunTask")
        ]
        return [float(e.get("tdur", 0)) for e in own]

    def press(self, key: str, modifiers: int = 0) -> None:
        """Presses a key and lets it go."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = {"Enter": 13, "Tab": 9}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            shown = text if kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers, windowsVirtualKeyCode=code, **shown
            )

    def picture(self, place: Path, whole: bool = False) -> None:
        """Writes what is seen, or the whole page, as the end of the name says: png or webp."""
        kind = place.suffix.removeprefix(".")
        shot = self.call("Page.captureScreenshot", format=kind, captureBeyondViewport=whole)
        place.write_bytes(base64.b64decode(shot["data"]))

    def _until_event(self, method: str) -> None:
        held = next((e for e in self._events if e["method"] == method), None)
        if held is None:
            self._until(lambda message: message.get("method") == method)
        self._events.clear()

    def _until(self, wanted: Callable[[Message], bool]) -> Message:
        while True:
            message = self._read()
            self._note(message)
            if wanted(message):
                return message

    def _note(self, message: Message) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if not method:
            return
        self._events.append(message)
        if method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"]["text"])
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])

    def _read(self) -> Message:
        """The next message. A busy machine takes its time: the limit of the test ends a silence."""
        while b"\0" not in self._unread:
            read = os.read(self._in, 1 << 20)
            if not read:
                raise EOFError(f"The browser ended: {self._process.poll()}.")
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(line))
