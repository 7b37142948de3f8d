"""The causes of rebalances, each with its label, its advice, and facts that other code asks about.

The evidence that a cause needs, and what rules it out, are in its rulings: the tables in judgements/rebalances.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.groups import RemedySetting
from kafka_hindsight.catalog.nouns.protocols import AdvisedNoun

_MEMBERS = "{tool} --bootstrap-server $BOOTSTRAP --describe --group {group} --members --verbose"
_STATE = "{tool} --bootstrap-server $BOOTSTRAP --describe --group {group} --state"
_QUOTA = "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --entity-type clients --entity-name {client}"
_RIGHTS = "kafka-acls.sh --bootstrap-server $BOOTSTRAP --list --group {group}"
_ALLOW = (
    "kafka-acls.sh --bootstrap-server $BOOTSTRAP --add --allow-principal User:$PRINCIPAL --consumer --topic $TOPIC"
    " --group {group}"
)
_BROKER_SETTINGS = (
    "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --all --entity-type brokers --entity-name $BROKER"
)
_OFFSETS_TOPIC = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --topic __consumer_offsets"
_OFFSETS_SETTINGS = (
    "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --all --entity-type topics"
    " --entity-name __consumer_offsets"
)
_CONNECTORS = 'curl -s "$CONNECT/connectors?expand=status"'
_CONNECTOR = "curl -s $CONNECT/connectors/{connector}/status"
_RESTART_TASKS = 'curl -s -X POST "$CONNECT/connectors/{connector}/restart?includeTasks=true&onlyFailed=true"'


@dataclass(frozen=True, kw_only=True)
class FamilyNoun(Noun):
    """One family in words. `side` says whose doing it was, to the owner of a group. `is_failure`: something failed."""

    side: str
    is_failure: bool = False


class CauseFamily(NounCode):
    """Causes that share a colour: its name in the style sheet, and what they have in common."""

    noun: FamilyNoun

    LOST = FamilyNoun(code="lost", meaning="Members lost", side="Yours", is_failure=True)
    BROKER = FamilyNoun(code="broker", meaning="Brokers", side="Not yours", is_failure=True)
    MEMBER = FamilyNoun(code="member", meaning="Members came and went", side="Yours")
    TOPIC = FamilyNoun(code="topic", meaning="Topics and subscriptions", side="Its topics changed")
    ASKED = FamilyNoun(code="asked", meaning="Asked for", side="An operator asked for it")
    PROTOCOL = FamilyNoun(code="protocol", meaning="Protocol steps", side="A step of the protocol")
    UNKNOWN = FamilyNoun(code="unknown", meaning="Not known", side="The cause is not known", is_failure=True)


@dataclass(frozen=True, kw_only=True)
class CauseNoun(AdvisedNoun):
    """One cause in words. `symptom` is how it shows in the logs.

    `is_arrival`, `is_departure`: a member came or went. `is_return`: it came back. `is_leave`: it asked to leave.
    `is_removal`: it went against its will. `is_silence`: its session expired. `is_death`: its process had ended.
    `is_silent_end`: its session expired, and it may only have been closed.
    `is_late_heartbeat`: its session expired, and its process lived. `is_late_poll`: it exceeded max.poll.interval.ms.
    `is_late_join`: it did not join in time.
    `is_follow_up`: the second half of a cooperative rebalance. `is_command`: an administrator asked for it.
    `is_broker_induced`: an outage of a broker can cause it. `is_move`: the coordinator moved. `is_unstored`: the
    coordinator could not store an assignment.
    `helped_by`: the setting whose longer time would have bridged it. `commands` show how things are now: braces stand
    for the group, a client, the connector of a sink, and the script that shows such a group.
    """

    label: str
    family: CauseFamily
    symptom: str
    source: str
    is_arrival: bool = False
    is_departure: bool = False
    is_return: bool = False
    is_leave: bool = False
    is_removal: bool = False
    is_silence: bool = False
    is_death: bool = False
    is_silent_end: bool = False
    is_late_heartbeat: bool = False
    is_late_poll: bool = False
    is_late_join: bool = False
    is_follow_up: bool = False
    is_command: bool = False
    is_broker_induced: bool = False
    is_move: bool = False
    is_unstored: bool = False
    helped_by: RemedySetting | None = None
    commands: tuple[str, ...] = (_MEMBERS,)


# fmt: off
class Cause(NounCode):
    """Why a rebalance began."""

    noun: CauseNoun

    MEMBER_JOINED = CauseNoun(
        code="member_joined", label="a member joined", family=CauseFamily.MEMBER,
        meaning="A member joined that was not in the group during the look-back (24 h by default).",
        symptom="a join phase starts with 'Adding new member'",
        advice="Nothing to do when you scaled out. When members come and go by themselves, look at what starts them:"
        " an autoscaler, a crash loop, a job scheduler. Cooperative assignment ({cooperative}) keeps the"
        " others working meanwhile. With brokers from 4.0 on {upgrade} does so too. Where the first members"
        " of a group each begin a rebalance, raise the brokers' group.initial.rebalance.delay.ms above the"
        " time between two of them.",
        epochs_advice="Nothing to do when you scaled out. When members come and go by themselves, look at what starts"
        " them: an autoscaler, a crash loop, a job scheduler. The others keep working meanwhile.",
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-134, KIP-394",
        is_arrival=True,
    )
    MEMBER_REJOINED = CauseNoun(
        code="member_rejoined", label="a member came back", family=CauseFamily.MEMBER,
        meaning="A member that had left or been removed came back. It is the same member where the instance id is the"
        " same; else where the client id is the same and, if hosts are known, the host. A client id that"
        " several members hold at once, or that a library chose, identifies no member: it is then the same, `likely`,"
        " only where the group was empty, and the last one that had gone has its host, or its client id and no other"
        " host. Else the cause is `member_joined`: `possible` where a member that may be the same had gone.",
        symptom="a join phase starts with 'Adding new member'",
        advice="The rebalance before this one shows why it left. For planned restarts give each member a {instance}"
        " of its own, and a {session} longer than a restart takes: then neither the going nor the coming"
        " starts a rebalance.",
        source="GroupCoordinator.scala, GroupMetadataManager.java; KIP-345",
        is_arrival=True, is_return=True,
    )
    MEMBER_LEFT = CauseNoun(
        code="member_left", label="a member left", family=CauseFamily.MEMBER,
        meaning="A member closed its consumer, unsubscribed, or was shut down.",
        symptom="a member leaves by LeaveGroup, or by a heartbeat with epoch -1 under KIP-848",
        advice="Nothing to do for a planned stop. For deployments use static membership ({instance}, and a {session}"
        " longer than a restart). Cooperative assignment ({cooperative}) keeps the others working meanwhile."
        " Restart one member at a time. Commit what was done before the member closes: else other members"
        " read it again. The place for it is {revocation_hook}.",
        epochs_advice="Nothing to do for a planned stop. For deployments give each member a {instance} of its own, and"
        " let a restart be shorter than {session}. Restart one member at a time. Commit or acknowledge what was"
        " done before the member closes: else other members read it again.",
        source="KIP-800; AbstractCoordinator.java maybeLeaveGroup",
        is_departure=True, is_leave=True,
    )
    HEARTBEAT_EXPIRED = CauseNoun(
        code="heartbeat_expired", label="heartbeat session expired", family=CauseFamily.LOST,
        meaning="A member's session expired while its process was alive: a pause (GC, suspend), the network, or a"
        " session timeout that is too short. A later line of the same process proves it.",
        symptom="'Heartbeat session expired': the coordinator removes a member on heartbeat expiration",
        advice="Look for long GC pauses, CPU throttling, suspended hosts, at the network between the member and its"
        " coordinator, and at its quotas. {beats_between_messages}Its library sends heartbeats between"
        " messages: call heartbeat() in a handler that takes long. Keep {heartbeat} at most a third of"
        " {session}.",
        helped_by=RemedySetting.SESSION_TIMEOUT,
        source="GroupCoordinator.scala onExpireHeartbeat; KIP-735; CommonClientConfigs",
        is_departure=True, is_removal=True, is_silence=True, is_broker_induced=True, is_late_heartbeat=True,
    )
    HOST_STALLED = CauseNoun(
        code="host_stalled", label="a host slept or stalled", family=CauseFamily.BROKER,
        meaning="The coordinator, or the host that it runs on, stood still: it slept, was suspended or paused. When it"
        " went on it found the sessions of members of many groups expired at once.",
        symptom="sessions of three groups or more expire within half a second, and their members join again",
        advice="Keep hosts of brokers and consumers from sleeping, suspending or being snapshotted; look at its GC log,"
        " CPU steal and disk stalls for the time before.",
        source="SystemTimer.advanceClock; GroupCoordinator.scala onExpireHeartbeat",
        is_departure=True, is_removal=True, is_silence=True, is_broker_induced=True,
    )
    MEMBER_DEAD = CauseNoun(
        code="member_dead", label="a member died", family=CauseFamily.LOST,
        meaning="A member's session expired and its process was gone: a new process of that client came back, or none"
        " within 10 minutes (then `likely` at most). Where only broker lines exist and the client id returns, both"
        " fit: `possible`, and the explanation names both. Of a member whose close sends no LeaveGroup its own log has"
        " to show it: without that it is `session_ended`.",
        symptom="'Member is dead': the coordinator removes a member on heartbeat expiration",
        advice="Find out why the member crashed: exit code, out-of-memory kills, the last lines of its own log, the"
        " host. {leaves_by_close}Close it on shutdown signals, so that the group need not wait for its"
        " session to run out. {stays_by_close}A close of it sends no LeaveGroup, and spares the group"
        " nothing. Do not raise {session}: it saves no dead member, and its partitions then stand still for"
        " longer.",
        source="GroupCoordinator.scala onExpireHeartbeat; GroupMetadataManager.java; KIP-848",
        is_departure=True, is_removal=True, is_silence=True, is_death=True,
    )
    SESSION_ENDED = CauseNoun(
        code="session_ended", label="a session ended silently", family=CauseFamily.LOST,
        meaning="A session expired whose member sends no LeaveGroup when it closes: a static member, or a consumer of"
        " Kafka Streams with the classic protocol. It was closed, or its process died; its own log would show which, so"
        " that this is `possible` at most. Where that log shows the close it is `member_left`.",
        symptom="the coordinator removes a static member or a consumer of Kafka Streams on heartbeat expiration",
        advice="Nothing to do where it was stopped on purpose, as for a deployment. Else find out why it died: exit"
        " code, out-of-memory kills, the last lines of its own log, the host. Give Hindsight its own log"
        " (CLIENT_LOGS): it shows which. A static member that is back within {session} needs no rebalance."
        " Where it stops for good, close it with the CloseOptions that leave the group: else its partitions"
        " wait until its session ends.",
        source="KIP-345, KIP-812, KIP-1092; AbstractCoordinator.java close, maybeLeaveGroup; StreamsConfig.java"
        " internal.leave.group.on.close, which is false in all versions",
        is_departure=True, is_removal=True, is_silence=True, is_silent_end=True,
    )
    MAX_POLL_EXCEEDED = CauseNoun(
        code="max_poll_exceeded", label="max poll interval exceeded", family=CauseFamily.LOST,
        meaning="Processing took longer than max.poll.interval.ms.",
        symptom="'Max poll interval exceeded': a member leaves because it did not poll in time",
        advice="Speed up the processing of a batch, or move it off the poll loop. Lower {records}, so that a batch"
        " is smaller. Another member reads again what this one had read and not committed: commit after each"
        " part of a batch. In {loss_hook} it is too late to commit; let it undo what was begun. Do not raise"
        " {session}: heartbeats go on while a batch is processed.",
        epochs_advice="Speed up the processing of a batch, or move it off the poll loop. Lower {records}, so that a"
        " batch is smaller. Another member reads again what this one had read and not committed or acknowledged: do"
        " so after each part of a batch. Do not raise {session}: heartbeats go on while a batch is processed.",
        helped_by=RemedySetting.MAX_POLL_INTERVAL,
        source="KIP-62, KIP-800; AbstractCoordinator.java; rdkafka_cgrp.c",
        is_departure=True, is_removal=True, is_late_poll=True,
    )
    TASK_FAILED = CauseNoun(
        code="task_failed", label="a task of Kafka Connect failed", family=CauseFamily.LOST,
        meaning="A task of Kafka Connect threw an exception. Its worker killed it and closed its consumer, and does not"
        " start it again by itself.",
        symptom="'Task is being killed and will not recover until manually restarted', and then its consumer leaves",
        advice="Read the exception below that line, mend what it is about, and restart the task: POST"
        " /connectors/NAME/tasks/NUMBER/restart. A record that it cannot read or write fails it again: see"
        " errors.tolerance and the dead letter queue.",
        commands=(_CONNECTOR, _RESTART_TASKS),
        source="WorkerTask.java doRun; WorkerSinkTask.java close",
        is_departure=True, is_removal=True,
    )
    NOT_AUTHENTICATED = CauseNoun(
        code="not_authenticated", label="a client could not authenticate", family=CauseFamily.LOST,
        meaning="A member was lost because its client, or a broker, did not prove who it is: an expired certificate, a"
        " wrong or withdrawn password or token.",
        symptom="'Failed authentication' or 'SSL handshake failed', and then the member's session expires",
        advice="Renew the certificate or the password that the quoted line is about, and restart the client with it:"
        " openssl x509 -enddate shows when a certificate ends. A longer session timeout does not help.",
        source="Selector.pollSelectionKeys; NetworkClient.processDisconnection; KIP-368",
        is_departure=True, is_removal=True, is_silence=True,
    )
    ACCESS_DENIED = CauseNoun(
        code="access_denied", label="access was denied", family=CauseFamily.LOST,
        meaning="A member was lost because the brokers' authorizer denied it its group or its topic.",
        symptom="'GroupAuthorizationException' or 'TopicAuthorizationException', and then the member is gone",
        advice="Give its principal the right to read the group and the topic (kafka-acls.sh --add --consumer), or"
        " find out who took it away. A longer session timeout does not help.",
        commands=(_RIGHTS, _ALLOW),
        source="StandardAuthorizerData.logAuditMessage; AclAuthorizer.logAuditMessage; AbstractCoordinator.java",
        is_departure=True, is_removal=True, is_silence=True,
    )
    THROTTLED = CauseNoun(
        code="throttled", label="a client was throttled", family=CauseFamily.LOST,
        meaning="A member's session expired because a quota of the brokers held back what its client sent.",
        symptom="'Connection to node 1 is throttled for 60000 ms', and then the member's session expires",
        advice="Raise the client's quota (kafka-configs.sh --alter --entity-type users or clients), or let it send"
        " fewer requests. A longer session timeout only hides it.",
        commands=(_QUOTA,),
        source="KIP-124, KIP-219; NetworkClient.maybeThrottle",
        is_departure=True, is_removal=True, is_silence=True,
    )
    SYNC_TIMEOUT = CauseNoun(
        code="sync_timeout", label="a member did not sync in time", family=CauseFamily.LOST,
        meaning="A member was removed because it sent no SyncGroup in time.",
        symptom="the coordinator removes members 'on pending sync request expiration'",
        advice="The member hung between joining and syncing: look at its log and at the network. Upgrade clients"
        " older than 2.x.",
        source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
        is_departure=True, is_removal=True,
    )
    JOIN_TIMEOUT = CauseNoun(
        code="join_timeout", label="a member did not rejoin in time", family=CauseFamily.LOST,
        meaning="A member was removed because it did not rejoin in time.",
        symptom="'removed dynamic members who haven't joined', or a KIP-848 member fenced for not leaving its epoch",
        advice="Its poll loop was stuck while the group rebalanced, for as long as {rejoin}: shorten what it does"
        " between two polls. The coordinator waits for as long as the longest limit of the group's members."
        " Keep {revocation_hook} short: it may commit what was done, and has to end within that limit.",
        helped_by=RemedySetting.MAX_POLL_INTERVAL,
        source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
        is_departure=True, is_removal=True, is_late_join=True,
    )
    SUBSCRIPTION_CHANGED = CauseNoun(
        code="subscription_changed", label="a subscription changed", family=CauseFamily.TOPIC,
        meaning="A member subscribed to other topics.",
        symptom="a member of the group rejoins with other metadata",
        advice="Nothing to do when the application meant it. Members of one group with different subscriptions"
        " rebalance more and spread worse: give them groups of their own.",
        source="ConsumerCoordinator.java rejoinNeededOrPending; KIP-800",
    )
    PARTITIONS_ADDED = CauseNoun(
        code="partitions_added", label="partitions were added", family=CauseFamily.TOPIC,
        meaning="A subscribed topic got more partitions.",
        symptom="the leader of the group rejoins over changed metadata",
        advice="Expected once for each change. Add partitions in quiet hours and in one step; keys move to other"
        " partitions.",
        source="ConsumerCoordinator.java MetadataSnapshot; KAFKA-3888",
    )
    TOPIC_CREATED = CauseNoun(
        code="topic_created", label="a topic was created", family=CauseFamily.TOPIC,
        meaning="A topic that matches the subscription was created.",
        symptom="the leader of the group rejoins over changed metadata",
        advice="Expected with a subscription by pattern. Narrow the pattern when it catches topics it should not.",
        source="ConsumerCoordinator.java MetadataSnapshot, updatePatternSubscription",
    )
    TOPIC_DELETED = CauseNoun(
        code="topic_deleted", label="a topic was deleted", family=CauseFamily.TOPIC,
        meaning="A subscribed topic was deleted.",
        symptom="the leader of the group rejoins over changed metadata",
        advice="Check that the deletion was meant; unsubscribe members from a topic before it is deleted.",
        source="ConsumerCoordinator.java MetadataSnapshot",
    )
    METADATA_CHANGED = CauseNoun(
        code="metadata_changed", label="topic metadata changed", family=CauseFamily.TOPIC,
        meaning="The group's leader rejoined because metadata changed, and no evidence shows which change it was.",
        symptom="the leader of the group rejoins over changed metadata",
        advice="Give Hindsight the leader's own log (CLIENT_LOGS): it names the topics.",
        source="ConsumerCoordinator.java rejoinNeededOrPending; KIP-800",
    )
    CLIENT_REQUESTED = CauseNoun(
        code="client_requested", label="the application asked for it", family=CauseFamily.ASKED,
        meaning="The application asked for it (enforceRebalance).",
        symptom="a member of the group rejoins with a reason of its own",
        advice="Look at what calls enforceRebalance (Kafka Streams and Connect do); nothing else is wrong.",
        source="Consumer.enforceRebalance; KIP-568, KIP-800",
    )
    REMOVED_BY_ADMIN = CauseNoun(
        code="removed_by_admin", label="an administrator removed a member", family=CauseFamily.ASKED,
        meaning="An administrator removed a member.",
        symptom="a member leaves with the reason 'member was removed by an admin'",
        advice="Ask who ran removeMembersFromConsumerGroup or kafka-streams-application-reset; the member itself sees"
        " a fenced instance id.",
        source="KafkaAdminClient.java DEFAULT_LEAVE_GROUP_REASON; KIP-345",
        is_departure=True, is_command=True,
    )
    COOPERATIVE_FOLLOWUP = CauseNoun(
        code="cooperative_followup", label="cooperative follow-up", family=CauseFamily.PROTOCOL,
        meaning="The second half of a cooperative rebalance.",
        symptom="a member of the group rejoins at once after a rebalance",
        advice="Nothing to do: cooperative members give partitions back first and take them in a second, short"
        " rebalance, without stopping the rest. With brokers from 4.0 on {upgrade} needs none.",
        source="KIP-429; ConsumerCoordinator.java onJoinComplete",
        is_follow_up=True,
    )
    STATIC_MEMBER_CHANGED = CauseNoun(
        code="static_member_changed", label="a static member changed", family=CauseFamily.PROTOCOL,
        meaning="A static member came back with other protocols or metadata, or was replaced.",
        symptom="a static member comes back and the group rebalances all the same",
        advice="Keep subscription and assignors of static members the same over a restart. Let no two processes share"
        " one {instance_id}.",
        source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
    )
    ASSIGNOR_CHANGED = CauseNoun(
        code="assignor_changed", label="the assignor changed", family=CauseFamily.PROTOCOL,
        meaning="The group changed its assignor.",
        symptom="a static member comes back with other assignors, so that the group's assignor changes",
        advice="Finish the rolling upgrade of assignors: each member twice, as KIP-429 describes.",
        source="GroupCoordinator.scala; KIP-429",
    )
    GROUP_OVER_CAPACITY = CauseNoun(
        code="group_over_capacity", label="the group was full", family=CauseFamily.LOST,
        meaning="The group had more members than group.max.size.",
        symptom="a coordinator that loads a group rebalances it",
        advice="Raise {size} on the brokers, or run fewer members.",
        commands=(_BROKER_SETTINGS, _MEMBERS),
        source="KIP-389; GroupCoordinator.scala onGroupLoaded",
    )
    COORDINATOR_MOVED = CauseNoun(
        code="coordinator_moved", label="the coordinator moved", family=CauseFamily.BROKER,
        meaning="The move of the coordinator cut the rebalance short, or the new coordinator began it while it loaded"
        " the group. A move alone starts no rebalance.",
        symptom="a group rebalances while its coordinator moves to another broker",
        advice="See the broker outage or the election behind it. Nothing is wrong with the group.",
        commands=(_STATE,),
        source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
        is_broker_induced=True, is_move=True,
    )
    STORAGE_ERROR = CauseNoun(
        code="storage_error", label="the coordinator could not write", family=CauseFamily.BROKER,
        meaning="The coordinator could not write to `__consumer_offsets`.",
        symptom="the coordinator begins a rebalance because it could not store the assignment",
        advice="Look at the ISR of the group's partition of __consumer_offsets against its min.insync.replicas, and at"
        " the size of the group's metadata against max.message.bytes.",
        commands=(_OFFSETS_TOPIC, _OFFSETS_SETTINGS),
        source="GroupCoordinator.scala propagateAssignment; GroupMetadataManager.java",
        is_broker_induced=True, is_unstored=True,
    )
    CONNECTOR_CHANGED = CauseNoun(
        code="connector_changed", label="a connector changed", family=CauseFamily.ASKED,
        meaning="A connector of Kafka Connect was created, changed or removed, or its tasks were.",
        symptom="a Connect worker rejoins just after its log says that the configuration of a connector or of tasks"
        " was updated or removed",
        advice="Nothing to do for a planned change. Change connectors in one go: each change of one moves tasks of"
        " others.",
        commands=(_CONNECTORS,),
        source="DistributedHerder.java ConfigUpdateListener, rebalanceSuccess; KIP-415",
    )
    SCHEDULED_DELAY_OVER = CauseNoun(
        code="scheduled_delay_over", label="the delay for a lost worker ended", family=CauseFamily.PROTOCOL,
        meaning="A lost worker of Kafka Connect did not return in time: its connectors and tasks went to others.",
        symptom="a Connect worker rejoins when the rebalance delay of its last assignment has passed",
        advice="See why the worker was lost. Set scheduled.rebalance.max.delay.ms (5 min is the default) to a little"
        " more than a restart of a worker takes: until then its connectors stand still.",
        commands=(_CONNECTORS,),
        source="IncrementalCooperativeAssignor.java handleLostAssignments; KIP-415",
    )
    SHARE_PARTITIONS_INITIALIZED = CauseNoun(
        code="share_partitions_initialized", label="share partitions became ready", family=CauseFamily.PROTOCOL,
        meaning="The coordinator had initialized partitions for a share group, which it can assign from then on.",
        symptom="the epoch of a share group rises though no member came or went and the topics stayed the same",
        advice="Nothing to do: it follows the first subscription to a topic, and partitions that are added to it.",
        source="GroupMetadataManager.java shareGroupHeartbeat; KIP-932",
    )
    UNKNOWN = CauseNoun(
        code="unknown", label="no known cause", family=CauseFamily.UNKNOWN,
        meaning="The evidence does not show the cause.",
        symptom="a rebalance whose reason is missing or does not show the cause",
        advice="Give Hindsight the logs of every broker and of the clients, and look at the coverage for this time.",
        source="brokers before 2.1 write no reason",
    )
# fmt: on

WORST_FIRST: tuple[Cause, ...] = tuple(
    cause for family in CauseFamily for cause in Cause if cause.noun.family is family
)
"""The causes in the order of how bad they are."""
