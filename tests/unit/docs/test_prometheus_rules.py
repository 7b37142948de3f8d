"""The alerting rules for Prometheus name gauges that metrics.prom has, and say what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from kafka_hindsight.report.metrics import METRICS
from kafka_hindsight.settings.home import HOME

(GROUP,) = yaml.safe_load((HOME / "docs" / "integrations" / "prometheus_rules.yml").read_text())["groups"]
GAUGES = {f"hindsight_{metric.name}" for metric in METRICS}


@pytest.mark.parametrize("rule", GROUP["rules"], ids=lambda rule: str(rule["alert"]))
def test_rule_names_gauges_and_says_what_to_do(rule: dict[str, Any]) -> None:
    gauges = set(re.findall(r"hindsight_\w+", rule["expr"]))
    assert gauges
    assert gauges <= GAUGES
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"].keys() == {"summary", "description"}
