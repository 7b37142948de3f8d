"""Pictures of the report in a real browser, at two sizes, light and dark.

`python -m tests.support.report_pictures docs/pictures` audits the sample night and two later ones, and writes
report.png, which README shows, report-NIGHT-WIDTH-SCHEME.webp for the others, and the views of a group and of an
incident. It prints what each page weighs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.report_browser import DRAWN, Browser, found
from tests.support.report_lakes import write_pages

SIZES = {1280: 900, 390: 844}
SCHEMES = ("light", "dark")
SHOWN = ("sample", 1280, "light")
SUBJECTS = {"group": ("groups", "crm-storm-8"), "incident": ("night", "40 committed records were lost")}

FIGURES = """new Promise(done => new PerformanceObserver(list => done({
    nodes: document.querySelectorAll('*').length,
    height: document.documentElement.scrollHeight,
    first_contentful_paint_ms: Math.round(list.getEntriesByName('first-contentful-paint')[0].startTime),
})).observe({type: 'paint', buffered: true}))"""


def take(pages: Mapping[str, Path], folder: Path) -> None:
    """Writes the pictures of pages. Raises: FileNotFoundError where there is no browser."""
    program = found()
    if program is None:
        raise FileNotFoundError("No Chromium is on the PATH: install chromium to take pictures.")
    with tempfile.TemporaryDirectory() as profile, Browser(program, Path(profile)) as browser:
        for night, page in pages.items():
            for width, height in SIZES.items():
                for scheme in SCHEMES:
                    browser.open(page.as_uri(), width, height, scheme)
                    browser.tell(DRAWN)
                    shown = (night, width, scheme)
                    name = "report.png" if shown == SHOWN else f"report-{night}-{width}-{scheme}.webp"
                    browser.picture(folder / name)
                    print(*shown, page.stat().st_size, browser.tell(FIGURES))
        browser.open(pages["sample"].as_uri(), 1280, SIZES[1280])
        for kind, (view, title) in SUBJECTS.items():
            browser.show(view)
            link = f"[...document.querySelectorAll('#view a')].find(a => a.textContent.startsWith('{title}'))"
            browser.show(browser.tell(f"{link}.hash.slice(1)"))
            browser.picture(folder / f"report-{kind}.webp")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        take(write_pages(Path(made)), Path(sys.argv[1]))
