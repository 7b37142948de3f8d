"""Whether a service is well, for health checks: exit code 0 where it is.

healthy.py http://host:port/path [key.key=value ...]    it answers 200, and its JSON says so
healthy.py kafka://host:port        the broker takes HINDSIGHT_KAFKA_PASSWORD, and the cluster counts it
"""

from __future__ import annotations

import json
import os
import sys
from functools import reduce
from urllib.parse import urlsplit
from urllib.request import urlopen

_SECONDS = 8


def main(url: str, *needed: str) -> int:
    """Gives: 0 where the service says all that is needed, 1 where it says something else or nothing."""
    try:
        missing = _missing_of_broker(url) if url.startswith("kafka:") else _missing_of_page(url, needed)
    except Exception as fault:
        missing = f"{url} does not answer: {fault}"
    if missing:
        print(missing, file=sys.stderr)
    return 1 if missing else 0


def _missing_of_page(url: str, needed: tuple[str, ...]) -> str:
    with urlopen(url, timeout=_SECONDS) as answer:
        said = answer.read()
    found = json.loads(said) if needed else {}
    wanted = dict(n.split("=", 1) for n in needed)
    told = {path: reduce(lambda at, key: (at or {}).get(key), path.split("."), found) for path in wanted}
    return "" if told == wanted else f"Found: {told}. Needed: {wanted}."


def _missing_of_broker(url: str) -> str:
    from confluent_kafka.admin import AdminClient

    place = urlsplit(url).netloc
    password = os.environ["HINDSIGHT_KAFKA_PASSWORD"]
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "hindsight", "sasl.password": password}
    reach = {"bootstrap.servers": place, "security.protocol": "SASL_PLAINTEXT", "log_level": 0, **login}
    known = AdminClient(reach).list_topics(timeout=_SECONDS).brokers.values()
    told = [f"{b.host}:{b.port}" for b in known]
    return "" if place in told else f"Found: brokers {', '.join(told)}. Needed: {place} among them."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
