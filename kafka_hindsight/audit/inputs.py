"""The settings of an audit that a user starts, and the live cluster that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.connection import from_environment as from_variables
from kafka_hindsight.settings.alerts import owners
from kafka_hindsight.settings.changes import declared_changes
from kafka_hindsight.settings.home import HOME, LAKE
from kafka_hindsight.settings.models import Settings, from_environment, missing_inputs
from kafka_hindsight.shared.exits import BadInput

SAMPLE = HOME / ".samples" / "night-4.1"


def audit_settings(environment: Mapping[str, str], options: Mapping[str, str]) -> Settings:
    """The settings of an audit: options override variables; without an input it is the sample night.

    Raises:
        BadInput: Every problem, at once.
    """
    values = {**from_environment(environment), **options}
    is_live = bool(environment.get("BOOTSTRAP", "").strip())
    if is_live and not values.get("logs"):
        raise BadInput(
            "BOOTSTRAP is set and LOGS is not. Needed: the brokers' logs, from which an audit is made. "
            "Set LOGS too, or take a reading alone with `hindsight snapshot --bootstrap ...`."
        )
    if SAMPLE.exists() and not any(values.get(name) for name in ("logs", "client_logs", "snapshots")):
        sample = {"logs": SAMPLE / "logs", "client_logs": SAMPLE / "clients", "snapshots": SAMPLE / "snapshots.jsonl"}
        values |= {name: str(path) for name, path in sample.items()}
    now = datetime.now(UTC)
    declared = {"owners": owners(), "changes": declared_changes()}
    run_values = {"run_id": now.strftime("%Y%m%dT%H%M%S.%fZ"), "run_at": now, **declared}
    settings = Settings.of({"lake": str(LAKE), **values, **run_values})
    if problems := missing_inputs(settings):
        raise BadInput(*problems)
    return settings


def live_cluster(environment: Mapping[str, str]) -> Connection | None:
    """The live cluster that is read too: BOOTSTRAP, with the settings of KAFKA_CONFIG. Raises: BadInput."""
    return from_variables(environment) if environment.get("BOOTSTRAP", "").strip() else None
