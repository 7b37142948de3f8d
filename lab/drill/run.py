"""A drill: real brokers, real faults, the truth written down: `python -m lab.drill.run --kafka 4.4.0`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import KafkaException

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import INPUTS, variable
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput
from lab.drill import canary_score, libraries, machine, processes, score
from lab.drill.acts import ELECTED_UNCLEANLY, MAINTENANCE_DECLARED
from lab.drill.admin import Admin
from lab.drill.cluster import LOCALHOST, DrillCluster, layouts_of
from lab.drill.guards import GUARDS, Guard
from lab.drill.hosts import hosts
from lab.drill.jars import NEWEST, VERSIONS
from lab.drill.lessons import teach
from lab.drill.libraries import JAVA
from lab.drill.machine import HOSTS
from lab.drill.metadata_log import unclean_elections
from lab.drill.names import DrawnNames
from lab.drill.offset_records import keep_records
from lab.drill.play import FAULTS, LANES, LONGEST, Played, play, tell
from lab.drill.producers import canaries
from lab.drill.readings import readings
from lab.drill.record import DRILLS, record
from lab.drill.scenarios import ALL, OFFSETS, REAL, SCENARIOS, STOPS, USUAL
from lab.drill.scenarios.calm import CALM_SESSIONS, ROUND_MINUTES, calm_day
from lab.drill.scene import DrillStage
from lab.drill.steps import Scenario
from lab.drill.truth_file import TruthFile
from setup.maven import CannotFetch

VARIABLES = ("KAFKA", "LAYOUT", "BROKERS", "SCENARIOS", "MINUTES", "LESSON", "SEED", "KEEP")
"""What a user gives through the environment; an option stands above the variable of its name."""

MAIN_PARTITIONS = 9
CALM = "calm"
"""The set of scenarios in which nothing fails."""

FEWEST_MINUTES = 20
"""A shorter calm day has no time for its deployments one after the other."""

MOST_MEMBERS = 4
"""So many members a classic group may have: one more is refused."""

QUICK_SESSIONS: Mapping[str, str] = {
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "9000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "2000",
}
"""Broker settings from 4.0 on, so that a KIP-848 member is missed within seconds."""

QUICK_GROUPS: Mapping[str, str] = {
    name.replace("consumer", kind): value for name, value in QUICK_SESSIONS.items() for kind in ("share", "streams")
}
"""The same for members of share groups and of Streams from 4.2 on, where brokers know both without being asked to."""


def played_here(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The scenarios that can be played on this machine; what is left out is named.

    Raises BadInput where none is left.
    """
    missing = libraries.prepare({name for s in scenarios for name in s.libraries})
    for name, why in missing.items():
        tell(f"Members of {name} are left out. {why}")
    lacking = machine.lacking({name for s in scenarios for name in s.needs})
    for name, why in lacking.items():
        tell(f"Scenarios with {name} are left out. {why}")
    if not (playable := [s for s in scenarios if not s.libraries & missing.keys() and not s.needs & lacking.keys()]):
        whys = sorted({*missing.values(), *lacking.values()})
        raise BadInput(f"Found: no scenario that can be played here. {' '.join(whys)}")
    return playable


@contextmanager
def drill(
    version: str,
    layout: str,
    scenarios: Sequence[Scenario],
    seed: int,
    folder: Path,
    brokers: int = 3,
    calm_minutes: float | None = None,
) -> Iterator[tuple[DrillCluster, list[Played]]]:
    """Play scenarios on a cluster of its own, which runs as long as the block lasts.

    `calm_minutes`: how long a calm day lasts, whose scenarios are played all at once and whose times are a site's.
    Yields the cluster, and how each scenario went. The folder holds what a site would have, with the truth: logs/,
    clients/, snapshots.jsonl, truth.jsonl and cluster.json.
    """
    rng = random.Random(seed)
    needs = {name for s in scenarios for name in s.needs}
    clients = folder / "clients"
    clients.mkdir(parents=True)
    truth = TruthFile(folder / "truth.jsonl")
    tell(f"Kafka {version}, {layout}, {brokers} brokers, seed {seed}: {len(scenarios)} scenarios; all goes to {folder}")
    with (
        hosts() if HOSTS in needs else nullcontext() as beside,
        nullcontext(beside.address if beside else LOCALHOST) as address,
        DrillCluster.start(
            version,
            folder,
            layout,
            ({} if calm_minutes else settings_for(version))
            | {name: value for s in scenarios for name, value in s.settings.items()},
            brokers,
            address=address,
            guard=Guard.make(folder / "certificates", address) if GUARDS in needs else None,
        ) as cluster,
        Admin(cluster.reach(JAVA), folder / "drill.log") as admin,
    ):
        (folder / "cluster.json").write_text(json.dumps(_described(cluster), indent=1) + "\n")
        names = DrawnNames(rng)
        main = names.topic()
        truth.write("cluster_up", kafka=version, mode=layout, seed=seed)
        truth.write("topic_created", topic=main, partitions=MAIN_PARTITIONS)
        admin.create_topic(main, MAIN_PARTITIONS)
        with readings(cluster.bootstrap, folder / "snapshots.jsonl"), canaries(cluster.bootstrap, folder) as flock:
            flock.watch(main, range(MAIN_PARTITIONS))
            sessions = CALM_SESSIONS if calm_minutes else member_config(rng)
            watchers = None if calm_minutes else flock  # Twenty groups beside them are load enough for other topics.
            stage = DrillStage(cluster, admin, truth, clients, names, main, sessions, beside, watchers)
            lanes = len(scenarios) if calm_minutes else LANES
            played = play(stage, scenarios, rng, tell, lanes, LONGEST + 60 * (calm_minutes or 0))
            time.sleep(2)
        if cluster.is_up:
            for election in unclean_elections(cluster) if cluster.layout != "zookeeper" else ():
                truth.write(ELECTED_UNCLEANLY, **election)
            truth.write("leaders_at_end", leaders=_leaders(admin))
            with suppress(KafkaException):  # No broker is left that answers: the rest of the drill is kept.
                keep_records(cluster.bootstrap, folder)
        truth.write("end")
        yield cluster, played
    for bulky in ("data", "config", "certificates"):
        shutil.rmtree(folder / bulky, ignore_errors=True)


def settings_for(version: str) -> dict[str, str]:
    """The broker settings of the drill, beside those that every cluster of its kind has."""
    quick = {**(QUICK_SESSIONS if _is_from(version, 4) else {}), **(QUICK_GROUPS if _is_from(version, 4, 2) else {})}
    return {"group.max.size": str(MOST_MEMBERS), **quick}


def _is_from(version: str, *first: int) -> bool:
    return tuple(map(int, version.split("."))) >= first


def member_config(rng: random.Random) -> dict[str, str]:
    return {"session.timeout.ms": str(rng.choice((6000, 7000, 8000))), "heartbeat.interval.ms": "2000"}


def _described(cluster: DrillCluster) -> dict[str, object]:
    return {
        "kafka": cluster.version,
        "mode": cluster.layout,
        "brokers": len(cluster.brokers),
        "cluster_id": cluster.cluster_id,
        "settings": dict(cluster.settings),
    }


def _leaders(admin: Admin) -> dict[str, dict[str, object]]:
    leaders: dict[str, dict[str, object]] = {}
    for p in admin.topics():
        if not p.topic.startswith("__"):
            leaders.setdefault(p.topic, {})[str(p.partition)] = [p.leader, p.replicas, p.isr]
    return leaders


_SETS: Mapping[str, Mapping[str, Scenario]] = {"": USUAL, "real": REAL, "stops": STOPS, "offsets": OFFSETS, "all": ALL}


def choose(names: str, version: str, layout: str, brokers: int = 3) -> list[Scenario]:
    """The scenarios asked for: names, or one of the sets that a drill knows; without either every usual one that fits.

    Raises BadInput where a name is unknown, or does not fit this cluster.
    """
    if names in _SETS:
        return [s for s in _SETS[names].values() if s.fits(version, layout, brokers)]
    wanted_names = [n.strip() for n in names.split(",") if n.strip()]
    if unknown := [n for n in wanted_names if n not in SCENARIOS]:
        raise BadInput(f"Found: scenario {', '.join(unknown)}. Needed: some of {', '.join(SCENARIOS)}.")
    if unfit := [n for n in wanted_names if not SCENARIOS[n].fits(version, layout, brokers)]:
        raise BadInput(
            f"Kafka {version} ({layout}, {brokers} brokers) cannot play {', '.join(unfit)}. Choose another one."
        )
    return [SCENARIOS[n] for n in wanted_names]


def audit(folder: Path, bootstrap: str) -> int:
    """Audit the running cluster and its logs, as any user would, and print the score. Returns 0 where it passes.

    Of the variables of an audit only ENGINE applies.
    """
    paths = {name: folder / name for name in ("logs", "lake")} | {"snapshots": folder / "snapshots.jsonl"}
    if any((folder / "clients").iterdir()):  # A drill of brokers alone has no members.
        paths["client-logs"] = folder / "clients"
    options = [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    of_users = {*VARIABLES, *map(variable, INPUTS), "KAFKA_CONFIG"} - {variable("engine")}
    environment = {k: v for k, v in os.environ.items() if k not in of_users} | {"BOOTSTRAP": bootstrap}
    environment["MAINTENANCE"] = declared_windows((folder / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    audited = subprocess.run(
        [sys.executable, "-m", "kafka_hindsight.cli.main", "audit", *options], env=environment, cwd=HOME
    )
    if audited.returncode:
        print(f"The audit ended with {audited.returncode}; what was recorded lies in {folder}.", file=sys.stderr)
        return audited.returncode
    print()
    scored = score.main(["--lake", str(folder / "lake"), "--truth", str(folder / "truth.jsonl")])
    print()
    return canary_score.main([str(folder), str(folder / "lake")]) or scored


def declared_windows(truth: Sequence[str]) -> str:
    """The maintenance that was declared in a drill, as the audit takes it. What was not ended lasts to the last act."""
    rows = [json.loads(line) for line in truth]
    declared = (row for row in rows if row["action"] == MAINTENANCE_DECLARED)
    return ";".join(f"{row['from']}/{row.get('to', rows[-1]['at'])} {row['reason']}" for row in declared)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a drill. Returns 0 where every scenario ended and the audit reported the acts; 2 for wrong input."""
    options = _parser().parse_args(arguments)
    logging.disable()  # py4j speaks of each JVM that is killed; that is what a drill does.
    if options.list:
        print("\n".join(f"{s.name:<34}{s.sentence}" for s in SCENARIOS.values()))
        return DONE
    try:
        return _run(options)
    except BadInput as problem:
        print("\n".join(problem.sentences), file=sys.stderr)
        return BAD_INPUT
    except (CannotFetch, *FAULTS) as fault:
        print(fault, file=sys.stderr)
        return FAULT
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    finally:
        processes.kill_all()


def _run(options: argparse.Namespace) -> int:
    if options.kafka not in VERSIONS:
        raise BadInput(f"Found: Kafka {options.kafka}. Needed: one of {', '.join(VERSIONS)}.")
    layout = options.layout or layouts_of(options.kafka)[0]
    if options.lesson:
        return teach(options.lesson, options.kafka, layout)
    seed = seed_of(options.seed)
    brokers = size_of(options.brokers)
    calm_minutes = minutes_of(options.minutes) if options.scenarios == CALM else None
    if calm_minutes:
        choice = [s for s in calm_day(calm_minutes) if s.fits(options.kafka, layout, brokers)]
    else:
        choice = choose(options.scenarios, options.kafka, layout, brokers)
    scenarios = played_here(choice)
    folder = DRILLS / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{options.kafka}-{seed}"
    with drill(options.kafka, layout, scenarios, seed, folder, brokers, calm_minutes) as (cluster, played):
        if options.keep:
            tell(f"Kept in {record(folder, Path(options.keep))}")
        judged = DONE if options.no_audit else audit(folder, cluster.bootstrap)
    broken = [p for p in played if p.fault]
    for p in broken:
        print(f"{p.name} did not come to its end: {p.fault}", file=sys.stderr)
    tell(f"{len(played) - len(broken)} of {len(played)} scenarios came to their end; seed {seed}; {folder}")
    return judged or (FAULT if broken else DONE)


def seed_of(text: str) -> int:
    """The user's seed, else a new one. Raises BadInput for one that is not a whole number."""
    if not text:
        return random.SystemRandom().randrange(1_000_000)
    if not text.isdecimal():
        raise BadInput(f"Found: seed {text}. Needed: a whole number.")
    return int(text)


def size_of(text: str) -> int:
    """How many brokers a user asked for, else three: scenarios need so many, and a machine holds no more than nine."""
    if text and text not in map(str, range(3, 10)):
        raise BadInput(f"Found: {text} brokers. Needed: 3 to 9.")
    return int(text or 3)


def minutes_of(text: str) -> float:
    """How long a calm day is to last, else one round. Raises BadInput where the work of a round has no room."""
    if text and not (text.isdecimal() and int(text) >= FEWEST_MINUTES):
        raise BadInput(f"Found: {text} minutes. Needed: {FEWEST_MINUTES} or more.")
    return float(text or ROUND_MINUTES)


def _parser() -> argparse.ArgumentParser:
    def variable(name: str) -> str:
        return os.environ.get(name, "").strip()

    parser = argparse.ArgumentParser(
        prog="python -m lab.drill.run", description="Put a real cluster through real faults."
    )
    parser.add_argument("--kafka", default=variable("KAFKA") or NEWEST, help="the Kafka to start")
    parser.add_argument("--layout", default=variable("LAYOUT"), help="combined, separate or zookeeper")
    parser.add_argument(
        "--scenarios",
        default=variable("SCENARIOS"),
        help="names with commas, real, stops, offsets, all or calm; default: the usual ones",
    )
    parser.add_argument(
        "--minutes", default=variable("MINUTES"), help=f"how long a calm day lasts; default: {ROUND_MINUTES:.0f}"
    )
    parser.add_argument("--brokers", default=variable("BROKERS"), help="how many, 3 to 9; default: 3")
    parser.add_argument(
        "--lesson", default=variable("LESSON"), help="failover or rebalance, step by step, for a person"
    )
    parser.add_argument(
        "--seed", default=variable("SEED"), help="gives names, order and times; printed where not given"
    )
    parser.add_argument(
        "--keep", default=variable("KEEP"), help="a new folder, or .tar.gz, for a recording of the drill"
    )
    parser.add_argument("--no-audit", action="store_true", help="only play and record")
    parser.add_argument("--list", action="store_true", help="print the scenarios, each with what it teaches")
    return parser


if __name__ == "__main__":
    for end_signal in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(end_signal, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
