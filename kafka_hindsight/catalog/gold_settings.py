"""Gold: how the members of consumer groups are set up, as far as witnesses show."""

from kafka_hindsight.catalog.codes import Protocol, SettingsWitness
from kafka_hindsight.catalog.gold_columns import CLUSTER, EVIDENCE, HAS_EVIDENCE, VERSION
from kafka_hindsight.catalog.model import Check, Table, optional, required

MEMBER_SETTINGS = Table(
    layer="gold",
    name="member_settings",
    grain="one client of a group with one set of settings, as witnesses showed them in the window",
    key=("settings_id",),
    time_column="first_seen_at",
    columns=(
        CLUSTER,
        required("settings_id", "STRING", "Hash of cluster, group, client, settings and the instant it was first seen"),
        required("group_id", "STRING", "Consumer group"),
        optional("client_id", "STRING", "Client id; null where not known"),
        optional("instance_id", "STRING", "group.instance.id of a static member; null for others"),
        required("member_count", "INT", "Member ids seen with them: one for each start of the client", unit="members"),
        optional("session_timeout_ms", "BIGINT", "session.timeout.ms; null where not known", unit="ms"),
        optional(
            "rebalance_timeout_ms",
            "BIGINT",
            "Rebalance timeout, which is max.poll.interval.ms; null where not known",
            unit="ms",
        ),
        optional("heartbeat_interval_ms", "BIGINT", "heartbeat.interval.ms; only a client's log has it", unit="ms"),
        optional("assignors", "ARRAY<STRING>", "Assignors that it offers, the preferred first; null where not known"),
        optional("assignor", "STRING", "Assignor that its group used last; null where not known"),
        optional("protocol", "STRING", "Rebalance protocol; null where not known", codes=Protocol),
        required(
            "witnesses",
            "ARRAY<STRING>",
            f"Who showed the settings: {', '.join(SettingsWitness)}; empty where no witness did",
        ),
        required("first_seen_at", "TIMESTAMP", "When a witness first showed it in the window"),
        required("last_seen_at", "TIMESTAMP", "When a witness last showed it in the window"),
        VERSION,
        EVIDENCE,
    ),
    checks=(
        Check("seen_in_order", "last_seen_at >= first_seen_at", "a member is not last seen before it is first seen"),
        Check("session_positive", "session_timeout_ms > 0", "a time-out is longer than nothing"),
        Check("rebalance_timeout_positive", "rebalance_timeout_ms > 0", "a time-out is longer than nothing"),
        HAS_EVIDENCE,
    ),
)
