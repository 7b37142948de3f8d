"""Why a partition's leader changed: the rulings, in order. The first that holds decides."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Confidence, FailoverKind
from kafka_hindsight.judgements.partitions.leaders import failover_proofs as proofs
from kafka_hindsight.judgements.partitions.leaders.leader_change import LeaderChange
from kafka_hindsight.judgements.reasoning.rulings import Ruling, always

_DISKS = (
    "ReplicaManager.handleLogDirFailure: a broker names the partitions of a failed directory and leads the others;"
    " without its metadata directory or its last one it ends. Controllers name only the broker."
)
_UNCLEAN = (
    "Since metadata.version 3.2 an unclean leader is marked RECOVERING, by the controller and by itself; the controller"
    " marks the last leader of a leaderless partition too, which has every record. Before 3.2, and in ZooKeeper mode,"
    " only the ISR shows it."
)
_REASSIGNED = (
    "ReplicationControlManager names the leader epoch of the change; KafkaController."
    "moveReassignedPartitionLeaderIfRequired names the leader that has to go."
)
_PREFERRED = (
    "KafkaController, PeriodicTaskControlManager: nothing else but a reassignment makes a healthy leader give way."
)
_OUTAGES = "gold.broker_outages; ReplicationControlManager.handleBrokerFenced, KafkaController.onBrokerFailure."

FAILOVER_RULINGS: tuple[Ruling[LeaderChange], ...] = (
    Ruling(
        FailoverKind.LOG_DIR_FAILED,
        Confidence.CERTAIN,
        "The log directory of broker {former} that held the partition failed, so the broker could not lead it.",
        proof=[proofs.disk_of_partition_failed],
        source=_DISKS,
        decides="disk-4.3 disk-t-9 epoch 1",
        looks_alike="disk-4.3 disk-t-9 epoch 2",
    ),
    Ruling(
        FailoverKind.LOG_DIR_FAILED,
        Confidence.LIKELY,
        "A log directory of broker {former} failed; it probably held the partition, but no line names the partitions.",
        proof=[proofs.some_disk_failed],
        source=_DISKS,
        decides="made: only the controller reports the failed directory",
        looks_alike="disk-4.3 disk-t-10 epoch 1",
    ),
    Ruling(
        FailoverKind.UNCLEAN_ELECTION,
        Confidence.CERTAIN,
        "Broker {new} was made leader although it was not in sync: the last ISR was {isr}, and the partition was marked"
        " RECOVERING. The records that broker {new} had not copied are lost.",
        proof=[proofs.another_broker_leads, proofs.not_in_last_isr, proofs.marked_recovering, proofs.alone_in_isr],
        source=_UNCLEAN,
        decides="unclean-4.1 fraud-risky-19-0 epoch 1",
        looks_alike="offline-4.1 crm-single-20-0 epoch 2",
    ),
    Ruling(
        FailoverKind.UNCLEAN_ELECTION,
        Confidence.CERTAIN,
        "Broker {new} was made leader although it was not in sync: the last ISR was {isr}. The records that broker"
        " {new} had not copied are lost.",
        proof=[
            proofs.another_broker_leads,
            proofs.not_in_last_isr,
            proofs.changed_in_zookeeper_mode,
            proofs.alone_in_isr,
        ],
        source=_UNCLEAN,
        decides="unclean-2.8 ads-risky-18-0 epoch 3",
        looks_alike="crash-2.8 shop-events-2 epoch 1",
    ),
    Ruling(
        FailoverKind.UNCLEAN_ELECTION,
        Confidence.LIKELY,
        "The partition was marked RECOVERING when broker {new} was made leader; {known}. The records that broker {new}"
        " had not copied are lost.",
        proof=[proofs.another_broker_leads, proofs.isr_may_lack_leader, proofs.marked_recovering, proofs.alone_in_isr],
        source=_UNCLEAN,
        decides="made: no ISR is known",
        looks_alike="offline-4.1 crm-single-20-0 epoch 2",
    ),
    Ruling(
        FailoverKind.UNCLEAN_ELECTION,
        Confidence.POSSIBLE,
        "Broker {new} was made leader, and is not in the last ISR that is known, {isr}: it was not in sync, or it had"
        " caught up unseen. Where it was not, the records that it had not copied are lost.",
        proof=[
            proofs.another_broker_leads,
            proofs.last_leader_was_away,
            proofs.not_in_known_isr,
            proofs.in_zookeeper_mode,
            proofs.alone_in_isr,
        ],
        source=_UNCLEAN,
        decides="made: an ISR of two epochs before in ZooKeeper mode",
        looks_alike="unclean-2.8 ads-risky-18-0 epoch 3",
    ),
    Ruling(
        FailoverKind.OFFLINE,
        Confidence.POSSIBLE,
        "The partition had no leader, and no outage of broker {former} is known: the deletion of the topic looks the"
        " same.",
        proof=[proofs.no_leader, proofs.changed_in_zookeeper_mode],
        unless=[proofs.former_leader_was_away],
        source="TopicDeletionManager.onTopicDeletion sets the leaders of a topic to -1 on the way.",
        decides="made: a leader of -1 in ZooKeeper mode",
        looks_alike="offline-3.9 mobile-single-19-0 epoch 1",
    ),
    Ruling(
        FailoverKind.OFFLINE,
        Confidence.CERTAIN,
        "The partition had no leader: broker {former} {gone}, and no replica could take over.",
        proof=[proofs.no_leader, proofs.former_leader_gone],
        source="A leader of -1 in the metadata of the partition; gold.broker_outages.",
        decides="offline-3.9 mobile-single-19-0 epoch 1",
        looks_alike="disk-3.9 disk-single-4 epoch 1",
    ),
    Ruling(
        FailoverKind.LEADER_RESTORED,
        Confidence.CERTAIN,
        "Broker {new} leads the partition, which had no leader; broker {new} had every record.",
        proof=[proofs.had_no_leader, proofs.had_every_record],
        source="PartitionChangeBuilder.electLeader: the ISR, the ELR, and the last known leader.",
        decides="offline-4.1 crm-single-20-0 epoch 2",
        looks_alike="unclean-4.1 fraud-risky-19-0 epoch 1",
    ),
    Ruling(
        FailoverKind.LEADER_RESTORED,
        Confidence.POSSIBLE,
        "Broker {new} leads the partition, which had no leader; whether broker {new} had every record is not known.",
        proof=[proofs.had_no_leader],
        source="PartitionChangeBuilder.electLeader: the ISR, the ELR, and the last known leader.",
        decides="made: another broker leads again, and no ISR is known",
        looks_alike="offline-4.1 crm-single-20-0 epoch 2",
    ),
    Ruling(
        FailoverKind.REASSIGNMENT,
        Confidence.CERTAIN,
        "Leadership moved from broker {former} to broker {new} by a reassignment of the partition's replicas.",
        proof=[proofs.reassignment_changed_leader],
        source=_REASSIGNED,
        decides="reassignment-4.3 crm-6-tracker-t-0 epoch 1",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
    Ruling(
        FailoverKind.REASSIGNMENT,
        Confidence.LIKELY,
        "Leadership moved from broker {former} to broker {new} while the partition's replicas were reassigned.",
        proof=[proofs.replicas_reassigned],
        unless=[proofs.preferred_election_shown, proofs.former_leader_was_away],
        source=_REASSIGNED,
        decides="cancelled-4.1 parcels.83-t-0 epoch 2",
        looks_alike="elections-3.9 search-34-sink-t-0 epoch 5",
    ),
    Ruling(
        FailoverKind.CONTROLLED_SHUTDOWN,
        Confidence.CERTAIN,
        "Leadership moved from broker {former} to broker {new}, because broker {former} was shut down in order.",
        proof=[proofs.former_leader_shut_down],
        source=_OUTAGES,
        decides="metadata-4.3 orders-0 epoch 1",
        looks_alike="metadata-4.3 orders-1 epoch 1",
    ),
    Ruling(
        FailoverKind.BROKER_UNRESPONSIVE,
        Confidence.CERTAIN,
        "Leadership moved from broker {former} to broker {new}, because the controller did not hear broker {former},"
        " which was alive.",
        proof=[proofs.former_leader_unresponsive],
        source=_OUTAGES,
        decides="pause-4.1 shop-events-5 epoch 5",
        looks_alike="crash-2.8 shop-events-2 epoch 1",
    ),
    Ruling(
        FailoverKind.BROKER_CRASH,
        Confidence.CERTAIN,
        "Leadership moved from broker {former} to broker {new}, because broker {former} had crashed.",
        proof=[proofs.former_leader_crashed],
        source=_OUTAGES,
        decides="crash-2.8 shop-events-2 epoch 1",
        looks_alike="pause-4.1 shop-events-5 epoch 5",
    ),
    Ruling(
        FailoverKind.UNKNOWN,
        Confidence.UNKNOWN,
        "Leadership moved from broker {former} to broker {new}, because broker {former} was down; the evidence does not"
        " show whether it was shut down, crashed or was cut off.",
        proof=[proofs.former_leader_lost],
        source=_OUTAGES,
        decides="made: an outage of unknown kind",
        looks_alike="crash-2.8 shop-events-2 epoch 1",
    ),
    Ruling(
        FailoverKind.PREFERRED_ELECTION,
        Confidence.CERTAIN,
        "Leadership moved from broker {former} to broker {new}, the first replica, in a preferred election.",
        proof=[proofs.preferred_election_shown],
        source=_PREFERRED,
        decides="preferred-2.8 shop-events-3 epoch 5",
        looks_alike="preferred-2.8 shop-events-3 epoch 3",
    ),
    Ruling(
        FailoverKind.PREFERRED_ELECTION,
        Confidence.LIKELY,
        "Leadership moved from broker {former}, which was alive, to broker {new}, the first replica: only a preferred"
        " election does that.",
        proof=[proofs.first_replica_leads, proofs.controller_is_heard],
        source=_PREFERRED,
        decides="metadata-4.3 orders-0 epoch 3",
        looks_alike="metadata-4.3 orders-0 epoch 2",
    ),
    Ruling(
        FailoverKind.PREFERRED_ELECTION,
        Confidence.POSSIBLE,
        "Leadership moved from broker {former} to broker {new}, the first replica, in a preferred election or because"
        " broker {former} was away: no log of the controller shows which.",
        proof=[proofs.first_replica_leads],
        source=_PREFERRED,
        decides="made: preferred-2.8 without the controllers' logs",
        looks_alike="preferred-2.8 shop-events-3 epoch 5",
    ),
    Ruling(
        FailoverKind.UNKNOWN,
        Confidence.UNKNOWN,
        "Leadership moved from broker {former} to broker {new}; the evidence does not show why.",
        proof=[always],
        source="Every change that no ruling above explains.",
        decides="preferred-2.8 shop-events-3 epoch 3",
        looks_alike="preferred-2.8 shop-events-3 epoch 5",
    ),
)
