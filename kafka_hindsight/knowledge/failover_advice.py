"""What to do about each kind of leader change. Advice that a rule or a period gives already is taken from there."""

from kafka_hindsight.catalog.codes import OutOfSyncKind
from kafka_hindsight.knowledge.isr import OUT_OF_SYNC_ADVICE
from kafka_hindsight.knowledge.rules import RULE_BY_ID

FAILOVER_ADVICE: dict[str, str] = {
    "log_dir_failed": OUT_OF_SYNC_ADVICE[OutOfSyncKind.DISK],
    "unclean_election": RULE_BY_ID["unclean_election"].advice,
    "offline": RULE_BY_ID["offline_partitions"].advice,
    "leader_restored": "See the change before it for why the partition had no leader. If the verdict is only"
    " `possible`, it is not known whether the new leader had every record: compare the topic with what consumers and"
    " other systems hold.",
    "reassignment": OUT_OF_SYNC_ADVICE[OutOfSyncKind.REASSIGNMENT],
    "controlled_shutdown": "Nothing, if the broker came back. If partitions had no leader meanwhile, see the"
    " scorecard of the restart.",
    "broker_unresponsive": "The process ran, but the controller received no heartbeat: look for long pauses (GC, a"
    " suspended host, a disk that hangs) and for a network partition between the broker and the controller.",
    "broker_crash": "Find out why the process ended: its last lines, its exit code, the kernel's log (killed when"
    " memory ran out), the state of its host. It recovers its logs at the next start: let it finish before the next"
    " stop.",
    "preferred_election": "Nothing: the preferred replicas lead again. The change before it says what had moved the"
    " leaders.",
    "unknown": RULE_BY_ID["leaderships_unseen"].advice,
}
"""By the kind of gold.failovers."""
