"""Advice to a group as one function of the cause, the protocol, the library and the settings that are known.

No setting is named that the member has not, and no value proposed that the known ones refute.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import Cause, ClientLibrary, Protocol, RemedySetting, Silence
from kafka_hindsight.catalog.rows.structs import SettingChange
from kafka_hindsight.knowledge.assignors import is_cooperative, is_eager
from kafka_hindsight.shared.words import duration

_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z{])")
_NAME = re.compile(r"\{(\w+)\}")

HEADROOM = 1.25
"""A time-out is proposed a quarter longer than what it would have taken, and rounded up. The factor is our choice."""

HEARTBEATS_PER_SESSION = 3
"""Kafka's own words on heartbeat.interval.ms: no higher than a third of session.timeout.ms."""

_GROUP = "$GROUP"
_SHOW_GROUP = "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --entity-type groups --entity-name {group}"
_ALTER = (
    "kafka-configs.sh --bootstrap-server $BOOTSTRAP --alter --entity-type groups --entity-name {group}"
    " --add-config {setting}"
)


@dataclass(frozen=True, kw_only=True)
class MemberFacts:
    """The known facts about the member that advice is about, and its group; None or empty: not known.

    `silent_ms`: how long it was silent, its session included. `polled_after_ms`: the time between two polls.
    """

    protocol: Protocol
    library: ClientLibrary = ClientLibrary.UNKNOWN
    group: str = ""
    client: str = ""
    is_static: bool = False
    session_ms: int | None = None
    heartbeat_ms: int | None = None
    poll_ms: int | None = None
    assignors: Sequence[str] = ()
    silent_ms: int | None = None
    polled_after_ms: int | None = None


@dataclass(frozen=True)
class Advice:
    """Advice in sentences, as settings to change, and as commands that show how things are now."""

    text: str
    changes: tuple[SettingChange, ...] = ()
    commands: tuple[str, ...] = ()


def advise(cause: Cause, facts: MemberFacts, silence: Silence | None = None) -> Advice:
    """The advice about a cause to the owner of a group; the kind of silence, where it has advice, goes first."""
    advised = silence.noun if silence and silence.noun.advice else cause.noun
    text = advised.epochs_advice if facts.protocol.has_epochs and advised.epochs_advice else advised.advice
    names = _names(facts)
    is_blameless = silence is Silence.COORDINATOR
    changes = () if is_blameless or cause.noun.helped_by is None else tuple(_changes(cause, facts))
    guidance = () if is_blameless else _guidance(cause, facts, changes)
    sentences = (*filled(text, names), *map(change_sentence, changes), *guidance)
    return Advice(" ".join(sentences), changes, tuple(_commands(cause, facts)))


def _names(facts: MemberFacts) -> Mapping[str, str]:
    """The words for the braces of sentences. Those that do not apply to the member are missing.

    A static member needs no advice to become one, and a cooperative one none to be so. Some are conditions alone: they
    have no words.
    """
    noun, protocol = facts.library.noun, facts.protocol
    timeouts = protocol.noun if protocol.has_epochs else noun
    may_be_static = not facts.is_static and protocol.is_of_consumers
    of_classic = protocol is Protocol.CLASSIC
    leaves = not facts.is_static and (noun.leaves_by_close or not of_classic)
    is_cooperative_value = f"{noun.assignors}={noun.cooperative}" if noun.cooperative else ""
    words: dict[str, str | bool] = {
        "session": timeouts.session,
        "heartbeat": timeouts.heartbeat,
        "poll": noun.poll,
        "rejoin": noun.rejoin,
        "records": noun.records,
        "instance": noun.instance if may_be_static else "",
        "instance_id": noun.instance,
        "cooperative": is_cooperative_value if _gains_by_cooperation(facts) else "",
        "upgrade": noun.upgrade if of_classic else "",
        "revocation_hook": noun.revocation_hook,
        "loss_hook": noun.loss_hook,
        "size": protocol.noun.size,
        "leaves_by_close": leaves,
        "stays_by_close": not leaves,
        "beats_between_messages": noun.beats_between_messages,
    }
    return {name: value if isinstance(value, str) else "" for name, value in words.items() if value}


def sentences_of(text: str) -> list[str]:
    """The sentences of a text; none where it is empty."""
    return _SENTENCE.split(text) if text else []


def filled(text: str, names: Mapping[str, str]) -> Iterator[str]:
    """The sentences of a text with words for their braces; those with a brace that does not apply are left out."""
    for sentence in sentences_of(text):
        if all(name in names for name in _NAME.findall(sentence)):
            yield sentence.format(**names)


def _gains_by_cooperation(facts: MemberFacts) -> bool:
    is_used = any(map(is_cooperative, facts.assignors)) and not any(map(is_eager, facts.assignors))
    return facts.protocol is Protocol.CLASSIC and not is_used


def _changes(cause: Cause, facts: MemberFacts) -> Iterator[SettingChange]:
    setting = cause.noun.helped_by
    if setting is RemedySetting.MAX_POLL_INTERVAL:
        yield from changes_of(setting, facts, facts.polled_after_ms)
    elif setting is RemedySetting.SESSION_TIMEOUT:
        yield from changes_of(setting, facts, facts.silent_ms)


def changes_of(setting: RemedySetting, facts: MemberFacts, needed_ms: int | None = None) -> tuple[SettingChange, ...]:
    """The settings to change, each with its key, its value now and its new one; none where the known ones suffice.

    Args:
        setting: What would help.
        facts: The member and its settings.
        needed_ms: The time that the setting has to exceed; None where it is not known.
    """
    return tuple(_MAKERS[setting](facts, needed_ms))


def _session(facts: MemberFacts, needed_ms: int | None) -> Iterator[SettingChange]:
    """The session, and the heartbeat where fewer than three fit into it. A longer one than is known is not needed."""
    if facts.session_ms is None:
        return
    session = max(_session_for(facts, needed_ms or 0), facts.session_ms)
    if session > facts.session_ms:
        gain = f"{duration(needed_ms)} of silence would not have ended it" if needed_ms and needed_ms < session else ""
        yield _time(facts, _names(facts)["session"], facts.session_ms, session, gain)
    most = session // HEARTBEATS_PER_SESSION
    if facts.heartbeat_ms is not None and facts.heartbeat_ms > most:
        interval = most // 1_000 * 1_000 or most
        yield _time(facts, _names(facts)["heartbeat"], facts.heartbeat_ms, interval, "three fit into a session")


def _session_for(facts: MemberFacts, needed_ms: int) -> int:
    """The session to propose: what is recommended, or longer where that was needed, within what brokers take."""
    bounds, recommended = facts.protocol.noun, facts.library.noun.session_ms
    return min(max(with_headroom(needed_ms), recommended, bounds.shortest_session_ms), bounds.longest_session_ms)


def _poll(facts: MemberFacts, needed_ms: int | None) -> Iterator[SettingChange]:
    """The time between two polls: at least a session, which librdkafka asks for."""
    key = facts.library.noun.poll
    if not key or needed_ms is None:
        return
    target = max(with_headroom(needed_ms), facts.session_ms or 0)
    if target > (facts.poll_ms or 0):
        yield _member_time(
            facts, key, facts.poll_ms, target, f"{duration(needed_ms)} between two polls would have held"
        )


def _static(facts: MemberFacts, needed_ms: int | None) -> Iterator[SettingChange]:
    """A name for each member, and a session that is longer than its restart."""
    names = _names(facts)
    if "instance" not in names:
        return
    name = "a name of its own for each member, the same after a restart"
    yield SettingChange(key=names["instance"], value_now="not set", value_new=name, place=facts.library.noun.place)
    if facts.session_ms is not None and needed_ms is not None and needed_ms >= facts.session_ms:
        gain = f"a restart of {duration(needed_ms)} fits into it"
        yield _time(facts, names["session"], facts.session_ms, _session_for(facts, needed_ms), gain)


def _cooperative(facts: MemberFacts, needed_ms: int | None) -> Iterator[SettingChange]:
    """A cooperative assignor alone, and how many restarts lead to it."""
    noun = facts.library.noun
    if not noun.cooperative or not _gains_by_cooperation(facts):
        return
    if not noun.mixes_assignors:
        how = "stop all members, then start them: this library refuses both kinds at once"
    elif any(map(is_cooperative, facts.assignors)):
        how = "one rolling restart, for its members offer both kinds already"
    else:
        how = "two rolling restarts: first both assignors, then the new one alone"
    yield SettingChange(
        key=noun.assignors,
        value_now=", ".join(facts.assignors) or None,
        value_new=noun.cooperative,
        paste=noun.text_form.format(key=noun.assignors, value=noun.cooperative),
        place=noun.place,
        how=how,
    )


_MAKERS = {
    RemedySetting.SESSION_TIMEOUT: _session,
    RemedySetting.MAX_POLL_INTERVAL: _poll,
    RemedySetting.STATIC_MEMBERSHIP: _static,
    RemedySetting.COOPERATIVE_ASSIGNMENT: _cooperative,
}
"""The function that makes the changes of each setting."""


def _time(facts: MemberFacts, key: str, now: int | None, new: int, gain: str) -> SettingChange:
    """The change of a time that members set, or of one of the group, which an administrator sets by a command."""
    if not facts.protocol.has_epochs:
        return _member_time(facts, key, now, new, gain)
    paste = f"{key}={new}"
    command = _ALTER.format(group=_name(facts.group), setting=paste)
    return SettingChange(
        key=key, value_now=_text(now), value_new=str(new), paste=paste, place="the group", gain=gain, command=command
    )


def _member_time(facts: MemberFacts, key: str, now: int | None, new: int, gain: str) -> SettingChange:
    noun = facts.library.noun
    paste = noun.form.format(key=key, value=new, seconds=f"{new / 1000:g}")
    if "{seconds}" not in noun.form:
        return SettingChange(
            key=key, value_now=_text(now), value_new=str(new), paste=paste, place=noun.place, gain=gain
        )
    values = {"value_now": None if now is None else f"{now / 1000:g}s", "value_new": f"{new / 1000:g}s"}
    return SettingChange.of({"key": key, "paste": paste, "place": noun.place, "gain": gain, **values})


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def with_headroom(needed_ms: int) -> int:
    """A time-out that exceeds a time by a quarter, rounded up to one leading digit: 312,000 becomes 400,000."""
    target = needed_ms * HEADROOM
    if target <= 0:
        return 0
    step = int(10 ** math.floor(math.log10(target)))
    return math.ceil(target / step) * step


def member_kinds() -> Iterator[MemberFacts]:
    """A member of each protocol and library that goes with it, of which nothing more is known."""
    for protocol in Protocol:
        for library in ClientLibrary:
            if protocol in library.noun.protocols:
                yield MemberFacts(protocol=protocol, library=library)


def change_words(change: SettingChange) -> str:
    """A change in one line: `session.timeout.ms: 7000 -> 45000`."""
    return f"{change.key}: {change.value_now or 'not known'} -> {change.value_new}"


def change_sentence(change: SettingChange) -> str:
    """A change as a sentence of advice."""
    more = "; ".join(filter(None, (change.gain, change.how)))
    return f"Set {change_words(change)} in {change.place}{f' ({more})' if more else ''}."


def _guidance(cause: Cause, facts: MemberFacts, changes: Sequence[SettingChange]) -> Iterator[str]:
    """The sentence about the setting that would help, where the evidence gives no number for it."""
    names, setting = _names(facts), cause.noun.helped_by
    if changes or setting is None:
        return
    if setting is RemedySetting.SESSION_TIMEOUT:
        key, least = names["session"], duration(facts.library.noun.session_ms)
        if facts.session_ms is not None:
            yield f"Leave {key} at {duration(facts.session_ms)}: {least} or more is long enough."
        elif facts.protocol.has_epochs:
            most = duration(facts.protocol.noun.longest_session_ms)
            yield f"The session is a setting of the group, {key}. By default it is {least}, and at most {most}."
        else:
            yield f"Check that {key} is {least} or more."
    elif key := names.get("rejoin" if cause.noun.is_late_join else "poll", ""):
        now = f" (now {duration(facts.poll_ms)})" if facts.poll_ms else ""
        yield f"Or raise {key}{now} above the longest batch."


def _commands(cause: Cause, facts: MemberFacts) -> Iterator[str]:
    """Commands that show how things are now, filled in."""
    values = {"group": _name(facts.group), "client": _name(facts.client, "$CLIENT"), "tool": facts.protocol.noun.tool}
    values["connector"] = _name(facts.group.removeprefix("connect-"), "$CONNECTOR")
    if facts.library is ClientLibrary.CONNECT:
        yield from Cause.CONNECTOR_CHANGED.noun.commands
    else:
        yield from (command.format(**values) for command in cause.noun.commands)
    if facts.protocol.has_epochs and cause.noun.helped_by is RemedySetting.SESSION_TIMEOUT:
        yield _SHOW_GROUP.format(**values)


def _name(name: str, unknown: str = _GROUP) -> str:
    return shlex.quote(name) if name else unknown
