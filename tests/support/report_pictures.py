"""Pictures of a report in a real browser, at three sizes, light and dark.

`python -m tests.support.report_pictures lake/report/index.html docs/pictures` writes report.png, which README shows,
and report-SIZE-SCHEME.png for the others.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.report_browser import Browser, found

SIZES = {"phone": (360, 780), "tablet": (820, 1_180), "desk": (1_600, 1_000)}
SCHEMES = ("light", "dark")
SHOWN = ("desk", "light")


def take(page: Path, folder: Path) -> list[Path]:
    """Writes the pictures of a page. Raises: FileNotFoundError where there is no browser."""
    program = found()
    if program is None:
        raise FileNotFoundError("No Chromium is on the PATH: install chromium to take pictures.")
    taken = []
    with tempfile.TemporaryDirectory() as profile, Browser(program, Path(profile)) as browser:
        for size, (width, height) in SIZES.items():
            for scheme in SCHEMES:
                browser.open(page.resolve().as_uri(), width, height, scheme)
                browser.tell(
                    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
                )
                name = "report.png" if (size, scheme) == SHOWN else f"report-{size}-{scheme}.png"
                browser.picture(folder / name)
                taken.append(folder / name)
    return taken


if __name__ == "__main__":
    for written in take(Path(sys.argv[1]), Path(sys.argv[2])):
        print(written)
