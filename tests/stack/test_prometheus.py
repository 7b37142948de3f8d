"""A real Prometheus scrapes metrics.prom, and its alerts fire by our rules. Needs Debian's package prometheus."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest

from kafka_hindsight.catalog.quality import NIGHTS
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.page_names import METRICS
from lab.drill.cluster import free_ports
from tests.support.rows import row

RULES = HOME / "docs" / "integrations" / "prometheus_rules.yml"
HOSTILE = 'prod "x"\\{{ 1 }}'

CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: hindsight
    metrics_path: /{path}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def program(name: str) -> str:
    path = shutil.which(name)
    if not path:
        pytest.fail(f"No program {name}. Needed: Debian's package prometheus.")
    return path


def test_promtool_takes_the_rules() -> None:
    subprocess.run([program("promtool"), "check", "rules", str(RULES)], check=True)


def test_alerts_fire_for_what_the_newest_night_has(tmp_path: Path) -> None:
    bad = row(
        NIGHTS, cluster=HOSTILE, state="act", run_published_at=datetime.now(UTC), window_to=datetime.now(UTC),
        records_lost_low=40, partitions_still_offline=76, records_skipped_low=0, not_known=["broker_lost"],
        lines_in=1000, lines_unread=11,
    )  # fmt: skip
    old = row(NIGHTS, cluster="old", state="calm", records_lost_low=0, partitions_still_offline=0, lines_in=1)
    (tmp_path / METRICS).write_text(metrics_text([bad, old]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (port,) = free_ports(1)
    config = tmp_path / "prometheus.yml"
    config.write_text(CONFIG.format(rules=RULES, path=METRICS, port=server.server_port))
    command = [
        program("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stderr=log) as prometheus:
        try:
            alerts = firing(port, 7)
        finally:
            prometheus.terminate()
            server.shutdown()
    assert sorted((a["labels"]["alertname"], a["labels"]["cluster"]) for a in alerts) == [
        ("HindsightAct", HOSTILE),
        ("HindsightLinesUnread", HOSTILE),
        ("HindsightNoAudit", "old"),
        ("HindsightNoLogs", "old"),
        ("HindsightNotKnown", HOSTILE),
        ("HindsightPartitionsOffline", HOSTILE),
        ("HindsightRecordsLost", HOSTILE),
    ]
    (lost,) = (a["annotations"]["summary"] for a in alerts if a["labels"]["alertname"] == "HindsightRecordsLost")
    assert lost == f"Kafka cluster {HOSTILE} lost at least 40 committed records"


def firing(port: int, at_least: int) -> list[dict[str, dict[str, str]]]:
    """The alerts that fire once there are as many, or after half a minute."""
    alerts: list[dict[str, dict[str, str]]] = []
    for _ in range(60):
        time.sleep(0.5)
        try:
            with urlopen(f"http://127.0.0.1:{port}/api/v1/alerts", timeout=5) as answer:
                alerts = [a for a in json.load(answer)["data"]["alerts"] if a["state"] == "firing"]
        except OSError:
            continue
        if len(alerts) >= at_least:
            break
    return alerts
