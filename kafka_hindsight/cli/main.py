"""`hindsight`: the verbs of the product, with or without make."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_hindsight import __version__
from kafka_hindsight.catalog.steps import BY_NAME, STEPS
from kafka_hindsight.cli import alert, audit, clusters_file, completion, doctor, look, snapshot, step
from kafka_hindsight.settings.config import INPUTS, masked
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput, sentences_of
from kafka_hindsight.start import first_use, launch


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one verb. Exit codes: 0 done; 42 publication refused; 2 bad input or settings; else a fault."""
    given = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    verb: Callable[[argparse.Namespace], int] = given.verb
    try:
        launch.keep_private()
        return verb(given)
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read the answer has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as fault:
        said = masked(sentences_of(fault)[0]).rstrip(".")
        print(f"{said}. Needed: files that can be read and written from here. {_REACH}", file=sys.stderr)
        return FAULT
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


_REACH = "Check the place, the network to it and the rights of this user; then run the command again."


_RUN_ID = "the run to go on with; default: the one that ingested last. A run that ingests has a new name by default"

_AS_JSON = "print the summary of the run as JSON; progress goes to stderr"

_OF_SNAPSHOT = {
    "bootstrap": "brokers of a live cluster, host:port,host:port",
    "config": "client.properties file with librdkafka's settings; KAFKA_CONFIG",
    "connection": "- for a connection as JSON on stdin, which needs neither of the two",
    "cluster": "name of the cluster in the lake; default: its id",
    "lake": "the lake in which the reading lands",
    "at": "the instant that names the landed file, so that a retry overwrites it; default: now",
    "to": "a JSON-lines file to which the reading is added instead of landing",
}


def parser() -> argparse.ArgumentParser:
    """The command line; each option stands above the variable of the same name."""
    top = argparse.ArgumentParser(
        prog="hindsight",
        description="What happened to our consumer groups and our leaders last night, why, and what it cost.",
        epilog="Exit codes: 0 done; 42 publication refused; 2 bad input or settings; anything else: a retry may"
        " succeed. `hindsight doctor` shows what is missing on this machine.",
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = top.add_subparsers(title="verbs", required=True, metavar="VERB")

    run = verbs.add_parser("audit", help="audit a night: the recorded one, or your own logs")
    run.set_defaults(verb=_audit)
    _add_inputs(run)
    run.add_argument("--json", help=_AS_JSON, action="store_true")
    run.add_argument("--bootstrap", help=_OF_SNAPSHOT["bootstrap"] + ": also read it now", metavar="BOOTSTRAP")

    for each in STEPS:
        by_hand = verbs.add_parser(each.name, help=f"one step of an audit, by hand: {_lowered(each.sentence)}")
        by_hand.set_defaults(verb=_step, step=each)
        _add_inputs(by_hand)
        by_hand.add_argument("--json", help=_AS_JSON, action="store_true")
        by_hand.add_argument("--run-id", help=_RUN_ID, metavar="RUN")

    handed = verbs.add_parser("step", help="one step as a scheduler hands it over: what a container runs")
    handed.set_defaults(verb=lambda given: step.become(given.step, given.settings))
    handed.add_argument("step", choices=sorted(BY_NAME), help="the step")
    handed.add_argument("--settings", required=True, help="its settings as JSON", metavar="JSON")

    read = verbs.add_parser("snapshot", help="one reading of a live cluster, landed in the lake")
    read.set_defaults(verb=_snapshot)
    for option, meaning in _OF_SNAPSHOT.items():
        read.add_argument(f"--{option}", help=meaning, metavar=option.upper())
    read.add_argument("--print", help="print the reading instead of landing it", action="store_true", dest="printed")

    tell = verbs.add_parser("alert", help="send the alerts that are due; each once")
    tell.set_defaults(verb=_alert)
    tell.add_argument("--lake", help="the lake to look at", metavar="LAKE")
    tell.add_argument("--at", help="the instant of the look; default: now", metavar="AT")
    tell.add_argument("--stdin", help="a line of JSON on stdin adds receivers and an event", action="store_true")
    tell.add_argument("--list", help="print what was sent and what waits, and send nothing", action="store_true")
    tell.add_argument("--json", help="print JSON", action="store_true")

    ask = verbs.add_parser("sql", help="an SQL prompt over the lake, or the answer to one query")
    ask.set_defaults(verb=_sql)
    ask.add_argument("query", nargs="?", help="one query, or the name of one in queries/; without it a prompt opens")
    ask.add_argument("--lake", help="the lake to ask", metavar="LAKE")
    ask.add_argument("--format", default="table", help="how answers are printed: table, csv or json")
    ask.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")

    lies = verbs.add_parser("tables", help="the tables of a lake: how many rows, the newest, what one row is")
    lies.set_defaults(verb=_sql, query=".tables")
    lies.add_argument("--lake", help="the lake to look at", metavar="LAKE")
    lies.add_argument("--format", default="table", help="how they are printed: table, csv or json")
    lies.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")

    why = verbs.add_parser(
        "explain", help="one rebalance, failover, outage, ... as a story with the lines that prove it"
    )
    why.set_defaults(verb=look.explain)
    why.add_argument("subject", metavar="ID|GROUP|TOPIC-PARTITION|worst|latest", help=look.SUBJECT)
    why.add_argument("--lake", help="the lake that holds it", metavar="LAKE")
    why.add_argument("--json", help="print the row, with what it names and what names it", action="store_true")

    for name, verb, meaning in (
        ("fleet", look.fleet, "all clusters of a lake or of the settings, the worst first, and which were not audited"),
        ("metrics", look.metrics, "the newest night of each cluster as OpenMetrics"),
    ):
        of_all = verbs.add_parser(name, help=meaning)
        of_all.set_defaults(verb=verb)
        of_all.add_argument("--lake", help="the lake that holds them", metavar="LAKE")
    of_all = verbs.choices["fleet"]
    of_all.add_argument("--json", help="print JSON", action="store_true")
    of_all.add_argument("--html", help="print the page", action="store_true")
    of_all.add_argument("--link", help="the address of a report's page, with {cluster} and {page}", metavar="ADDRESS")
    of_all.add_argument("--cluster", help="only this cluster; may be repeated", action="append", dest="clusters")

    several = verbs.add_parser("clusters", help="the file of several clusters, hindsight.toml: checked, or its schema")
    several.set_defaults(verb=_clusters)
    several.add_argument("action", choices=("check", "schema"), help="check the file; or print its JSON Schema")
    several.add_argument("--file", type=Path, help="the file; default: the one that a schedule reads", metavar="FILE")

    look_around = verbs.add_parser("doctor", help="what is missing on this machine, in a lake, in a cluster or in logs")
    look_around.set_defaults(verb=doctor.run)
    doctor.add_options(look_around)

    known = verbs.add_parser("completion", help="the script by which a shell completes hindsight")
    known.set_defaults(verb=_completion)
    known.add_argument("shell", choices=completion.SHELLS)

    show = verbs.add_parser("report", help="print the path of the newest report, or a list of all nights")
    show.set_defaults(verb=look.report)
    show.add_argument("--lake", help="the lake it was written into", metavar="LAKE")
    show.add_argument("--open", help="open it in the browser", action="store_true", dest="opened")
    show.add_argument("--list", help="every night that was published, the newest first", action="store_true")
    show.add_argument("--json", help="print JSON", action="store_true")
    return top


def _add_inputs(verb: argparse.ArgumentParser) -> None:
    for i in INPUTS:
        # argparse formats a help text with %: a layout of log4j holds some of its own.
        option, meaning = f"--{i.variable.lower().replace('_', '-')}", i.meaning.replace("%", "%%")
        verb.add_argument(option, dest=i.field, help=meaning, metavar=i.variable)


def _inputs(given: argparse.Namespace) -> dict[str, str]:
    return {i.field: value for i in INPUTS if (value := getattr(given, i.field))}


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _step(given: argparse.Namespace) -> int:
    settings = step.asked(given.step, os.environ, _inputs(given), given.run_id)
    first_use.prepare_spark(*settings.places)
    return look.summed_up(given, settings, given.step, lambda: step.run(given.step, settings))


def _audit(given: argparse.Namespace) -> int:
    environment = {**os.environ, **({"BOOTSTRAP": given.bootstrap} if given.bootstrap else {})}
    settings, live = audit.requested(environment, _inputs(given)), audit.live_cluster(environment)
    first_use.prepare_spark(*settings.places)
    return look.summed_up(given, settings, STEPS[-1], lambda: audit.audit(settings, live))


def _snapshot(given: argparse.Namespace) -> int:
    options = {"BOOTSTRAP": given.bootstrap, "KAFKA_CONFIG": given.config}
    environment = {**os.environ, **{name: value for name, value in options.items() if value}}
    if given.connection not in (None, "-"):
        raise BadInput(
            f"--connection is {given.connection!r}. Needed: -, and the connection on stdin: it holds secrets."
        )
    return snapshot.run(
        snapshot.Order(
            connection=snapshot.connection_of(environment, sys.stdin if given.connection else None),
            lake=look.lake_of(given),
            at=snapshot.instant(given.at),
            cluster=given.cluster or os.environ.get("CLUSTER", "").strip() or None,
            to_file=given.to,
            printed=given.printed,
        )
    )


def _alert(given: argparse.Namespace) -> int:
    if given.list:
        told = alert.listed(look.lake_of(given), given.json)
        print(told or "No alert has been sent yet.")
        return DONE
    return alert.run(
        alert.order_of(look.lake_of(given), os.environ, sys.stdin if given.stdin else None, snapshot.instant(given.at))
    )


def _sql(given: argparse.Namespace) -> int:
    from kafka_hindsight.sql import prompt as sql  # DuckDB is loaded only where it is used

    return sql.main(look.lake_of(given), given.query or os.environ.get("Q", "").strip() or None, given.format)


def _clusters(given: argparse.Namespace) -> int:
    if given.action == "check":
        return clusters_file.check(given.file)
    print(clusters_file.schema_text(), end="")
    return DONE


def _completion(given: argparse.Namespace) -> int:
    from kafka_hindsight.sql import answers, named_queries

    print(completion.script(given.shell, parser(), {"--format": answers.FORMATS}, named_queries.FOLDER), end="")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
