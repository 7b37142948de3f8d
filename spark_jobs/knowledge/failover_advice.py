"""What to do about each kind of change of a leader. What a rule or a period advises already stands there alone."""

from spark_jobs.catalog.codes import OutOfSyncKind
from spark_jobs.knowledge.isr import OUT_OF_SYNC_ADVICE
from spark_jobs.knowledge.rules import RULE_BY_ID

FAILOVER_ADVICE: dict[str, str] = {
    "log_dir_failed": OUT_OF_SYNC_ADVICE[OutOfSyncKind.DISK],
    "unclean_election": RULE_BY_ID["unclean_election"].advice,
    "offline": RULE_BY_ID["offline_partitions"].advice,
    "leader_restored": "See why nobody had led: the change before it. Where the verdict is only `possible`, nobody"
    " tells whether the new leader had every record: compare the topic with what consumers and other systems hold.",
    "reassignment": OUT_OF_SYNC_ADVICE[OutOfSyncKind.REASSIGNMENT],
    "controlled_shutdown": "Nothing, where the shutdown was meant. Where partitions stood without a leader meanwhile,"
    " see the scorecard of the restart.",
    "broker_unresponsive": "The process was alive and not heard: look for long pauses (GC, a suspended host, a disk"
    " that hangs) and for a cut between it and the controller.",
    "broker_crash": "Find out why the process ended: its last lines, its exit code, the kernel's log (killed for want"
    " of memory), what its host did. It comes back with a recovery of its logs, so let it finish before the next stop.",
    "preferred_election": "Nothing: leaders went back to where they are preferred. What had moved them away is the"
    " change before it.",
    "unknown": RULE_BY_ID["leaderships_unseen"].advice,
}
"""By the kind of gold.failovers."""
