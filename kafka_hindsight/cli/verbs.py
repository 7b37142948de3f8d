"""The verbs of `hindsight`, and their list before set-up has run. Standard library only."""

from __future__ import annotations

import sys
from typing import NamedTuple

from kafka_hindsight import __version__
from kafka_hindsight.catalog.steps import REPORT, STEPS

PURPOSE = "Explain what happened to Kafka's consumer groups and partition leaders in a night, why, and what it cost."
EPILOG = (
    "Exit codes: 0 done; 42 publication refused; 2 bad input or settings; anything else: a retry may succeed."
    " `hindsight doctor` shows what is missing on this machine."
)


WRITES = "audit"
"""The extra of what writes a lake."""


class Verb(NamedTuple):
    """A verb: its module in this room, its function, its line of help, and the extra that it needs, if any."""

    module: str
    function: str
    says: str
    extra: str | None = None


VERBS = {
    "audit": Verb(
        "audit", "command", "audit a night, the recorded one or your own logs, in one process or on Spark", WRITES
    ),
    **{
        s.name: Verb("step", "by_hand", f"run one step: {s.sentence[0].lower()}{s.sentence[1:]}", WRITES)
        for s in STEPS
        if s is not REPORT
    },
    "step": Verb("step", "become", "run one step as a scheduler's container does", WRITES),
    "snapshot": Verb("snapshot", "command", "take a reading of a live cluster and land it in the lake", "snapshot"),
    "alert": Verb("alert", "command", "send the alerts that are due, each once"),
    "sql": Verb("ask", "sql", "open an SQL prompt over the lake, or answer one query"),
    "tables": Verb("ask", "tables", "list a lake's tables: rows, newest row, what one row is"),
    "explain": Verb("look", "explain", "explain a group, topic, broker, client or incident, with its log lines"),
    "fleet": Verb("look", "fleet", "list all clusters, the worst first, and which were not audited"),
    "collection": Verb("look", "collection", "list the logs of all clusters that are behind, and what is not known"),
    "metrics": Verb("look", "metrics", "print the newest night of each cluster as OpenMetrics"),
    "mcp": Verb("mcp_server", "mcp", "serve the answers of a lake to programs (Model Context Protocol)", "mcp"),
    "anonymise": Verb("anonymise", "command", "copy logs and readings with pseudonyms in place of names", WRITES),
    "clusters": Verb("clusters_file", "command", "check hindsight.toml, or print its JSON Schema"),
    "doctor": Verb("main", "doctor", "check this machine, a lake, a cluster or logs"),
    "upgrade": Verb(
        "upgrade", "command", "make a lake of an earlier version one of this version, night by night", WRITES
    ),
    "report": Verb("look", "report", "print the path of the newest report, or Markdown, or a list of all nights"),
}


def main(arguments: list[str]) -> int:
    """Print the version, or the verbs that are named, else all."""
    if "--version" in arguments:
        print(f"hindsight {__version__}")
        return 0
    verbs = [name for name in VERBS if name in arguments] or [*VERBS]
    print(f"Usage: hindsight VERB [OPTIONS]\n\n{PURPOSE}\n")
    print("\n".join(f"  {name:<14}{VERBS[name].says}" for name in verbs))
    print(f"\n{EPILOG}\nAfter set-up, `hindsight VERB --help` lists the options of a verb.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
