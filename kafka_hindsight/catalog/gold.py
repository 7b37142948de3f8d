"""Gold: the timelines and verdicts people read. Its tables by name."""

from itertools import chain
from operator import attrgetter

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.order import in_waves

ASSIGNMENT_CHANGES = rows.AssignmentChange.TABLE
BACKLOGS = rows.Backlog.TABLE
BROKER_OUTAGES = rows.BrokerOutage.TABLE
CONTROLLER_CHANGES = rows.ControllerChange.TABLE
COORDINATOR_MOVES = rows.CoordinatorMove.TABLE
FAILOVERS = rows.Failover.TABLE
FINDINGS = rows.Finding.TABLE
IMBALANCE_PERIODS = rows.ImbalancePeriod.TABLE
INCIDENTS = rows.Incident.TABLE
ISR_CHANGES = rows.IsrChange.TABLE
PARTITION_STALLS = rows.PartitionStall.TABLE
LEADER_IMBALANCE = rows.LeaderImbalance.TABLE
MEMBER_SETTINGS = rows.MemberSetting.TABLE
NIGHT_SUBJECTS = rows.NightSubject.TABLE
OFFSET_JUMPS = rows.OffsetJump.TABLE
OUT_OF_SYNC_PERIODS = rows.OutOfSyncPeriod.TABLE
OWNERSHIP = rows.Ownership.TABLE
PARTITION_RISKS = rows.PartitionRisk.TABLE
PRODUCER_FAILURES = rows.ProducerFailure.TABLE
PRODUCER_SETTINGS = rows.ProducerSetting.TABLE
REBALANCES = rows.Rebalance.TABLE
REMEDIES = rows.Remedy.TABLE
ROLLING_RESTARTS = rows.RollingRestart.TABLE
SECOND_STARTS = rows.SecondStart.TABLE
TRUNCATIONS = rows.Truncation.TABLE
UNAVAILABILITY = rows.Unavailability.TABLE

TABLES = tuple(chain.from_iterable(in_waves(sorted(rows.tables_of("gold"), key=attrgetter("name")))))
"""In the order of publication: what others refer to comes first, else by name."""
