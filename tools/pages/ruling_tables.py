"""Every table of rulings, by the table and column that its verdicts fill and by the case that it decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_hindsight.judgements.brokers.controller_changes import CONTROLLER_RULINGS
from kafka_hindsight.judgements.brokers.outage_rulings import OUTAGE_RULINGS
from kafka_hindsight.judgements.groups import remedies
from kafka_hindsight.judgements.groups.group_incidents import FINGERPRINTS, INCIDENTS
from kafka_hindsight.judgements.groups.stall_rulings import STALL_RULINGS
from kafka_hindsight.judgements.offsets.jump_rulings import JUMP_RULINGS
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import FAILOVER_RULINGS
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import OUT_OF_SYNC_RULINGS
from kafka_hindsight.judgements.partitions.replicas.truncations import TRUNCATION_RULINGS
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.judgements.rebalances.judge import JOIN_RULINGS, MOVE_RULINGS, REASON_RULINGS, REMOVAL_RULINGS
from kafka_hindsight.judgements.rebalances.leave_rulings import EXPIRY_RULINGS, LEAVE_RULINGS
from kafka_hindsight.judgements.rebalances.rejoin_rulings import EPOCH_RULINGS, REJOIN_RULINGS, SILENT_RULINGS
from kafka_hindsight.judgements.rebalances.silence_rulings import POLL_SILENCES, SESSION_SILENCES

RULING_TABLES: Mapping[str, Mapping[str, Sequence[Ruling[Any]]]] = {
    "gold.rebalances.cause": {
        "a member joined": JOIN_RULINGS,
        "a member left": LEAVE_RULINGS,
        "a member's session expired": EXPIRY_RULINGS,
        "the coordinator dropped or replaced a member": REMOVAL_RULINGS,
        "a member of the group rejoined": REJOIN_RULINGS,
        "an epoch rose and no member joined or left": EPOCH_RULINGS,
        "the coordinator wrote no reason": SILENT_RULINGS,
        "the coordinator's reason alone": REASON_RULINGS,
        "the coordinator moved meanwhile": MOVE_RULINGS,
    },
    "gold.rebalances.silence": {
        "a session expired while the process lived": SESSION_SILENCES,
        "a poll limit ran out": POLL_SILENCES,
    },
    "gold.incidents.kind": {"rebalances had one origin": INCIDENTS},
    "gold.incidents.fingerprint": {"a group rebalanced in a loop": FINGERPRINTS},
    "gold.remedies.setting": {
        "members restarted": remedies.STATIC_MEMBERSHIP,
        "members fell silent": remedies.SESSION_TIMEOUT,
        "members polled too late": remedies.MAX_POLL_INTERVAL,
        "a group rebalanced eagerly": remedies.COOPERATIVE_ASSIGNMENT,
    },
    "gold.partition_stalls.kind": {"records waited in a partition that had an owner": STALL_RULINGS},
    "gold.offset_jumps.cause": {"a group went on elsewhere": JUMP_RULINGS},
    "gold.failovers.kind": {"a partition's leader changed": FAILOVER_RULINGS},
    "gold.broker_outages.kind": {"a broker was away": OUTAGE_RULINGS},
    "gold.controller_changes.cause": {"the controller changed": CONTROLLER_RULINGS},
    "gold.out_of_sync_periods.suspected_broker": {"a broker was out of ISRs": OUT_OF_SYNC_RULINGS},
    "gold.truncations.verdict": {"a replica cut its log": TRUNCATION_RULINGS},
}
