"""A drill: real brokers, real faults, the truth written down: `python -m drill.run --kafka 4.3.1`."""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from drill.admin import Admin
from drill.cluster import LAYOUTS, Cluster, ClusterFault
from drill.jars import NEWEST, VERSIONS, CannotFetch
from drill.names import Names
from drill.play import Played, play, tell
from drill.readings import readings
from drill.scenarios import SCENARIOS
from drill.scene import Stage
from drill.steps import Scenario
from drill.truth_file import TruthFile
from spark_jobs.exits import BAD_INPUT, DONE

MAIN_PARTITIONS = 9
QUICK_SESSIONS: Mapping[str, str] = {
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.session.timeout.ms": "9000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "2000",
}
"""Broker settings from 4.0 on, so that a KIP-848 member is missed within seconds."""


def drill(version: str, layout: str, scenarios: Sequence[Scenario], seed: int, folder: Path) -> list[Played]:
    """Plays scenarios on a cluster of its own and keeps what a site would have, with the truth, in `folder`.

    Gives: how each went. The folder then holds logs/, clients/, snapshots.jsonl, truth.jsonl and cluster.json.
    """
    rng = random.Random(seed)
    clients = folder / "clients"
    clients.mkdir(parents=True)
    truth = TruthFile(folder / "truth.jsonl")
    settings = QUICK_SESSIONS if version >= "4" else {}
    tell(f"Kafka {version}, {layout}, seed {seed}: {len(scenarios)} scenarios; everything goes to {folder}")
    with (
        Cluster.start(version, folder, layout, settings) as cluster,
        Admin(cluster.libs, version, cluster.bootstrap, folder / "drill.log") as admin,
    ):
        (folder / "cluster.json").write_text(json.dumps(_described(cluster), indent=1) + "\n")
        names = Names(rng)
        stage = Stage(cluster, admin, truth, clients, names, names.topic(), _member_config(rng))
        truth.write("cluster_up", kafka=version, mode=layout, seed=seed)
        truth.write("topic_created", topic=stage.main, partitions=MAIN_PARTITIONS)
        admin.create_topic(stage.main, MAIN_PARTITIONS)
        with readings(cluster.bootstrap, folder / "snapshots.jsonl"):
            played = play(stage, scenarios, rng, tell)
            time.sleep(2)
        truth.write("leaders_at_end", leaders=_leaders(admin))
        truth.write("end")
    return played


def _member_config(rng: random.Random) -> dict[str, str]:
    return {"session.timeout.ms": str(rng.choice((6000, 7000, 8000))), "heartbeat.interval.ms": "2000"}


def _described(cluster: Cluster) -> dict[str, object]:
    return {
        "kafka": cluster.version,
        "mode": cluster.layout,
        "brokers": len(cluster.brokers),
        "cluster_id": cluster.cluster_id,
        "settings": dict(cluster.settings),
    }


def _leaders(admin: Admin) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for p in admin.topics():
        if not p.topic.startswith("__"):
            found.setdefault(p.topic, {})[str(p.partition)] = [p.leader, p.replicas, p.isr]
    return found


def chosen(names: str, version: str, layout: str) -> list[Scenario]:
    """The scenarios asked for; without names, the usual ones that fit; `all`, every one that fits.

    Raises: ValueError where a name is unknown, or does not fit this cluster.
    """
    if names in ("", "all"):
        return [s for s in SCENARIOS.values() if s.fits(version, layout) and (s.usual or names)]
    asked = [n.strip() for n in names.split(",") if n.strip()]
    if unknown := [n for n in asked if n not in SCENARIOS]:
        raise ValueError(f"Found: scenario {', '.join(unknown)}. Needed: some of {', '.join(SCENARIOS)}.")
    if unfit := [n for n in asked if not SCENARIOS[n].fits(version, layout)]:
        raise ValueError(f"Kafka {version} ({layout}) cannot play {', '.join(unfit)}. Choose another one.")
    return [SCENARIOS[n] for n in asked]


def main(arguments: Sequence[str] | None = None) -> int:
    """Gives: 0 where every scenario came to its end, 1 where one did not, 2 for input that cannot be played."""
    parser = argparse.ArgumentParser(prog="python -m drill.run", description="Put a real cluster through real faults.")
    parser.add_argument("--kafka", default=NEWEST, choices=VERSIONS, help="the Kafka to start")
    parser.add_argument("--layout", choices=LAYOUTS, help="default: zookeeper for 2.8.2, else combined")
    parser.add_argument("--scenarios", default="", help="names with commas between; `all`: uncommon ones too")
    parser.add_argument("--seed", type=int, help="a number that gives names, order and times; printed where not given")
    parser.add_argument("--keep", type=Path, help="a new folder for what was recorded")
    parser.add_argument("--list", action="store_true", help="print the scenarios, each with what it teaches")
    options = parser.parse_args(arguments)
    logging.disable()  # py4j speaks of each JVM that is killed; that is what a drill does.
    if options.list:
        print("\n".join(f"{s.name:<22}{s.sentence}" for s in SCENARIOS.values()))
        return DONE
    layout = options.layout or ("zookeeper" if options.kafka.startswith("2.") else "combined")
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    folder = options.keep or Path(tempfile.mkdtemp(prefix="drill-")) / "night"
    try:
        scenarios = chosen(options.scenarios, options.kafka, layout)
        if folder.exists():
            raise ValueError(f"Found: {folder} exists. Needed: a new folder to keep the drill in.")
        played = drill(options.kafka, layout, scenarios, seed, folder)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return BAD_INPUT
    except (CannotFetch, ClusterFault) as fault:
        print(fault, file=sys.stderr)
        return 1
    failed = [p for p in played if p.fault]
    tell(f"{len(played) - len(failed)} of {len(played)} scenarios came to their end; seed {seed}")
    return 1 if failed else DONE


if __name__ == "__main__":
    sys.exit(main())
