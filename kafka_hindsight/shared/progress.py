"""What a step prints while it runs: to its log, and to the terminal that waits for it."""

from __future__ import annotations

import json
import os
from typing import Any

from kafka_hindsight.shared.exits import format_exit_summary

FILE_VARIABLE = "HINDSIGHT_PROGRESS"
"""Names the file that `hindsight audit` follows; a scheduled run has none."""

LOG_VARIABLE = "HINDSIGHT_LOG"
"""Names the file that takes everything Airflow and Spark say, where `hindsight audit` started the run."""


def say(text: str) -> None:
    """One sentence about what is being done."""
    print(text, flush=True)
    _append(event="says", text=text)


def begins(step: str, sentence: str) -> None:
    """A step begins."""
    print(f"{step}: {sentence}", flush=True)
    _append(event="begins", step=step, text=sentence)


def ends(step: str, exit_code: int, sentences: list[str], summary: dict[str, Any]) -> None:
    """A step ends: with what it counted, or with the sentences that say why not."""
    print("\n".join(format_exit_summary(step, exit_code, sentences)), flush=True)
    _append(event="ends", step=step, exit_code=exit_code, sentences=sentences, summary=summary)


def _append(**entry: Any) -> None:
    if path := os.environ.get(FILE_VARIABLE):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=str) + "\n")
