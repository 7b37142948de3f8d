"""A short part of the chaos suite: `make chaos` goes on for hours."""

from __future__ import annotations

import re
import subprocess
import sys

from spark_jobs.shared.launch import HOME

ROW = re.compile(r"^\| kill of publish, (?:first night|more logs) \| 3 \| 3 \| 3 \|", re.MULTILINE)


def test_a_publication_that_is_killed_is_whole_to_readers_and_equal_after_a_retry() -> None:
    subprocess.run([sys.executable, HOME / "setup" / "build.py", "--only", "samples"], check=True)
    words = ["--parts", "kills", "--steps", "publish", "--kills", "3", "--real", "1", "--seed", "18"]
    done = subprocess.run(
        [sys.executable, "-m", "tools.chaos", *words], cwd=HOME, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(ROW.findall(done.stdout)) == 2, done.stdout
    assert "seed 18" in done.stdout
