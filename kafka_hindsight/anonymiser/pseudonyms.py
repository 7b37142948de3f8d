"""Pseudonyms for the names in logs. A name's words are replaced; what is Kafka's in it, its numbers and ids stay."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import suppress
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import chain, product
from uuid import UUID

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.catalog.readings import Reading
from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS
from kafka_hindsight.knowledge.envelopes import OBJECTS, ORIGINS, PREFIXES
from kafka_hindsight.knowledge.json_layouts import JSON_LAYOUTS
from kafka_hindsight.knowledge.noise import NOISE
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.patterns.fragments import UUID as UUID_REGEX

Phrase = tuple[str, str, str]
"""The text before a name, the name, and the text after it, as a pattern found them in a line."""

BEFORE, AFTER = 8, 2
"""Characters of a phrase around its name."""

_KEPT = frozenset(
    re.findall(
        r"\w+",
        # Roles, by which a folder names its broker (knowledge/layouts.py), and folders that many machines have.
        "broker controller kafka node server zookeeper connect localhost ip"
        " var lib opt kinit usr tmp home srv mnt data log logs etc bin libs conf config clients snapshots"
        # Client ids that libraries choose (knowledge/client_ids.py), and what Kafka Streams and tools append.
        " consumer console rdkafka python aiokafka sarama kgo github com segmentio go kafkajs client no ruby karafka"
        " vscode producer admin adminclient restore global stream streams thread changelog repartition subscription"
        " registration coordinator heartbeat anonymous",
    )
)
"""Words that stay in a name: rules read them, and they name nothing of a site's."""

_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+"
_ADDRESS_IN_HOST = r"(?<![A-Za-z0-9])ip-\d{1,3}(?:-\d{1,3}){3}(?!\d)"
_PART = re.compile(rf"(?P<id>{UUID_REGEX}|[0-9a-f]{{32}})|(?P<ip>{_ADDRESS_IN_HOST})|(?P<word>{_WORD})")
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SYLLABLES = tuple(map("".join, product(_CONSONANTS, _VOWELS)))
_ENDS = tuple(map("".join, product(_CONSONANTS, _VOWELS, _CONSONANTS)))
_SHORT = 4
"""A shorter word may stand in any text, and is replaced only within a name."""

V4 = r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)"
V6 = r"(?<![\w:.])(?=[0-9a-fA-F]*:[0-9a-fA-F]*:)[0-9a-fA-F:]{2,39}(?![\w:.])"
_ADDRESSES = re.compile(f"{_ADDRESS_IN_HOST}|{V4}|{V6}")
_RUN = r"[A-Za-z0-9._-]+"
_KEYS = (
    *("topic=", "partition=", "group=", "groupId=", "group.id = ", "clientId=", "client.id = ", "host=", "nceId="),
    *("instance id ", "instance.id = ", "memberId=", "nalId=", "Some(", "User:", "user.name=", "username="),
)
"""What Kafka prints before names. The ends of `groupInstanceId=` and `transactionalId=` are among them."""
_BEFORE_LIST = ("", *" ,[({'\"/=:")
_IN_LIST = re.compile(rf"-(?:\d+(?![\w.-])|{UUID_REGEX})")
_SUFFIXES = re.compile(
    r"(?:\.(?:log|out|txt|jsonl?|gz|xz|bz2|zst|lz4|tar|tgz|snapshot|index|timeindex|deleted|[0-9a-f]{32}-delete)"
    r"|[.-]|(?<=[\d.-])\d)+$"
)
_ID_LENGTH = 22
_REACH = 48
"""Characters around a name that show whether it is one: a UUID is 36 long."""
_AFTER_PATH = re.compile(r"(?:-\d+)?(?![\w.-])")


def is_id(text: str) -> bool:
    """Whether a text is a random id as Kafka prints it: a UUID of version 4 in base 64. Source: Uuid.toString."""
    if len(text) != _ID_LENGTH or not re.fullmatch(r"[A-Za-z0-9_-]+[AQgw]", text):
        return False
    number = UUID(bytes=urlsafe_b64decode(f"{text}=="))
    return number.version == 4


def stem_of(part: str) -> str:
    """A part of a path without suffixes and the number of a partition."""
    return _SUFFIXES.sub("", part)


def words_of(name: str) -> list[str]:
    """The words of a name without those that stay. ASCII words are in lower case."""
    words = (_key(m["word"]) for m in _PART.finditer(name) if m["word"])
    return [word for word in words if word not in _KEPT]


def _key(word: str) -> str:
    return word.lower() if word.isascii() else word


@cache
def _kafkas() -> tuple[Set[str], Set[str]]:
    """The words that patterns, noise, layouts and inputs consist of, and their runs, with each number as #."""
    declarations = (
        PATTERNS,
        NOISE,
        PREFIXES,
        OBJECTS,
        ORIGINS,
        JSON_LAYOUTS,
        PATTERN_LAYOUTS,
        UNDATED,
        BROKER_SETTINGS,
    )
    text = repr((*declarations, Reading.COLUMNS, GROUP_RECORDS.columns))
    return frozenset(map(_key, re.findall(_WORD, text))), frozenset(map(_masked, re.findall(_RUN, text)))


def _masked(name: str) -> str:
    return re.sub(r"\d+", "#", name.lower()).strip("._-")


def is_kafkas(word: str) -> bool:
    """Whether Kafka's own text has a word."""
    return word in _kafkas()[0]


def is_ambiguous(name: str) -> bool:
    """Whether a name may be Kafka's own text: it is replaced only where it stands as a name."""
    words = words_of(name)
    if len(words) > 1 and re.fullmatch(_RUN, name):
        return _masked(name) in _kafkas()[1]
    return all(len(word) < _SHORT or is_kafkas(word) for word in words)


def addresses_in(text: str) -> Iterator[str]:
    """The addresses in a text, as they are written. Those of hosts such as ip-10-0-0-7 are among them."""
    yield from (address for match in _ADDRESSES.finditer(text) if (address := _address_of(match[0])[0]))


def _address_of(text: str) -> tuple[str, str]:
    """An address, and the port that Java writes behind it; the whole text is the rest where it is not an address."""
    dotted = text.removeprefix("ip-").replace("-", ".")
    for address in (dotted, dotted.rpartition(":")[0]):
        with suppress(ValueError):
            ip_address(address)
            return address, dotted[len(address) :]
    return "", text


class Pseudonyms:
    """The pseudonyms of some names: no two names share one, and they sort as the names do.

    The pseudonym of a group belongs to the same partition of `__consumer_offsets` as the group does.
    """

    def __init__(
        self,
        names: Collection[str],
        groups: Collection[str] = (),
        addresses: Collection[str] = (),
        phrases: Set[Phrase] = frozenset(),
        partition_counts: Collection[int] = (),
    ) -> None:
        self._counts, self._phrases = partition_counts, phrases
        self._codes: dict[str, str] = {}
        self._with_ends: dict[str, str] = {}
        self.by_address = _address_pseudonyms(addresses)
        self._choose_codes(names, groups)
        self.by_name = {name: new for name in names if (new := self.of(name)) != name}
        """The pseudonym of each name that does not consist of words that stay."""
        self.ambiguous = frozenset(filter(is_ambiguous, self.by_name))
        self._longest = max(map(len, self.by_name), default=0)
        strange = [name for name in self.by_name if not re.fullmatch(_RUN, name)]
        self._forms = {form: (name, new) for name in strange for form, new in _forms(name, self.by_name[name])}
        forms = map(_bounded, sorted(self._forms, key=len, reverse=True))
        self._pattern = re.compile(
            "|".join([*forms, r"(?P<escape>\\[\\nrtbf])", f"(?P<ip>{V4}|{V6})", f"(?P<run>{_RUN})"])
        )
        self._plain = lru_cache(maxsize=1 << 16)(lambda run: self._of_run(run, None))

    def of(self, name: str) -> str:
        """The pseudonym of a name: its own text, where it consists of words that stay."""
        if not self._with_ends:
            return _PART.sub(self._of_part, name)
        pieces = _any_of(tuple(self._with_ends)).split(name)
        return "".join(self._with_ends[p] if n % 2 else _PART.sub(self._of_part, p) for n, p in enumerate(pieces))

    def in_text(self, text: str) -> str:
        """A text with pseudonyms in place of names and addresses."""
        return self._pattern.sub(self._of_match, text)

    def in_path(self, part: str) -> str:
        """A part of a path with pseudonyms: before its suffixes it may be a name as a whole."""
        stem = stem_of(part)
        return self.by_name[stem] + part[len(stem) :] if stem in self.by_name else self.in_text(part)

    def _choose_codes(self, names: Collection[str], groups: Collection[str]) -> None:
        """Give each word a code: its beginning keeps the order of words, its end the partitions of groups."""
        words = sorted({word for name in (*names, *groups) for word in words_of(name)})
        size = 2 if len(words) <= len(_SYLLABLES) ** 2 else 3
        step = len(_SYLLABLES) ** size // max(len(words), 1)
        stems = {word: _stem(rank * step, size) for rank, word in enumerate(words)}
        reserved = {*words, *_kafkas()[0]}
        codes = {word: [stem + end for end in _ENDS if stem + end not in reserved] for word, stem in stems.items()}
        for group in sorted(groups, key=lambda g: (len(g), g)):
            new = [word for word in dict.fromkeys(words_of(group)) if word not in self._codes]
            self._codes |= {word: codes[word][0] for word in new}
            for code in codes[new[-1]] if new else []:
                self._codes[new[-1]] = code
                if self._is_at_home(group, self.of(group)):
                    break
        self._codes = {word: of_word[0] for word, of_word in codes.items()} | self._codes
        while moved := [group for group in groups if not self._is_at_home(group, self.of(group))]:
            self._with_ends = {group: self._with_end(group) for group in (*self._with_ends, *moved)}

    def _with_end(self, group: str) -> str:
        """The pseudonym of a group whose words lead to another partition: with an end of its own."""
        new = _PART.sub(self._of_part, group)
        ends = chain(_ENDS, map("".join, product(_ENDS, repeat=2)))
        return next(name for end in ends if self._is_at_home(group, name := f"{new}-{end}"))

    def _is_at_home(self, group: str, new: str) -> bool:
        return all(offsets_partition_of(group, n) == offsets_partition_of(new, n) for n in self._counts)

    def _of_part(self, part: re.Match[str]) -> str:
        if part["ip"]:
            address = _address_of(part[0])[0]
            return f"ip-{self.by_address.get(address, address).replace('.', '-')}"
        code = self._codes.get(_key(part[0])) if part["word"] else None
        if code is None:
            return part[0]
        if not part[0].isascii() or part[0].islower():
            return code
        return code.upper() if len(part[0]) > 1 and part[0].isupper() else code.capitalize()

    def _of_match(self, match: re.Match[str]) -> str:
        text, begin = match[0], match.start()
        if text in self._forms and not match["run"]:
            name, new = self._forms[text]
            is_name = name not in self.ambiguous or self._stands_as_name(match.string, begin, match.end())
            return new if is_name else text
        if match["ip"]:
            address, rest = _address_of(text)
            return f"{self.by_address.get(address, address)}{rest}"
        if match["escape"]:
            return text
        plain = self._plain(text)
        if plain is not None:
            return plain
        return str(self._of_run(text, lambda i, j: self._stands_as_name(match.string, begin + i, begin + j)))

    def _of_run(self, run: str, is_name: Callable[[int, int], bool] | None) -> str | None:
        """A run with pseudonyms; None where `is_name` is needed and missing: it decides on ambiguous names by place."""
        if is_id(run):
            return run
        cuts = sorted({0, len(run), *(place for m in re.finditer(rf"{UUID_REGEX}|[._-]", run) for place in m.span())})
        pieces, copied_to = list[str](), 0
        for n, begin in enumerate(cuts):
            if begin < copied_to:
                continue
            for end in reversed(cuts[n + 1 : bisect_right(cuts, begin + self._longest)]):
                name = run[begin:end]
                if name not in self.by_name:
                    continue
                if name in self.ambiguous:
                    if is_name is None:
                        return None
                    if not is_name(begin, end):
                        continue
                pieces += [_PART.sub(self._of_loose_part, run[copied_to:begin]), self.by_name[name]]
                copied_to = end
                break
        return "".join([*pieces, _PART.sub(self._of_loose_part, run[copied_to:])])

    def _of_loose_part(self, part: re.Match[str]) -> str:
        """A part outside of names: a whole word of a name's that no text of Kafka's has."""
        word, around = part["word"], part.string[part.start() - 1 : part.start()] + part.string[part.end() :][:1]
        is_kept = word and (len(word) < _SHORT or is_kafkas(_key(word)) or re.search("[A-Za-z]", around))
        return part[0] if is_kept else self._of_part(part)

    def _stands_as_name(self, text: str, begin: int, end: int) -> bool:
        """Whether an ambiguous text is a name where it stands: quoted, in a path or a list, or as a pattern read it."""
        name, before, after = text[begin:end], text[max(begin - _REACH, 0) : begin], text[end : end + _REACH]
        last = before[-1:]
        if (before[-BEFORE:], name, after[:AFTER]) in self._phrases:
            return True
        if last in ("'", '"') and after[:1] == last:
            return not after[1:].lstrip().startswith(":")
        if last == "/":
            return _AFTER_PATH.match(after) is not None
        return before.endswith(_KEYS) or (last in _BEFORE_LIST and _IN_LIST.match(after) is not None)


def _stem(number: int, size: int) -> str:
    """A number in syllables."""
    rest, last = divmod(number, len(_SYLLABLES))
    return (_stem(rest, size - 1) if size > 1 else "") + _SYLLABLES[last]


@lru_cache(maxsize=1)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"({'|'.join(map(_bounded, sorted(names, key=len, reverse=True)))})")


def _bounded(text: str) -> str:
    """A regex of a text that is not part of a longer word."""
    begins, ends = r"(?<![^\W_])" if text[0].isalnum() else "", r"(?![^\W_])" if text[-1].isalnum() else ""
    return f"{begins}{re.escape(text)}{ends}"


def _forms(name: str, new: str) -> Iterator[tuple[str, str]]:
    """A name and its pseudonym as texts and JSON have them."""
    yield name, new
    for is_ascii in (True, False):
        yield json.dumps(name, ensure_ascii=is_ascii)[1:-1], json.dumps(new, ensure_ascii=is_ascii)[1:-1]


def _address_pseudonyms(texts: Collection[str]) -> dict[str, str]:
    """An address of a reserved range for each address, in the same order. Loopback addresses stay."""
    addresses = {text: ip_address(text) for text in texts}
    of_site = sorted(
        {a for a in addresses.values() if not (a.is_loopback or a.is_unspecified)}, key=lambda a: (a.version, int(a))
    )
    ranks = {address: rank for rank, address in enumerate(of_site, start=1)}
    return {
        text: _reserved(address.version, ranks[address], "::" in text)
        for text, address in addresses.items()
        if address in ranks
    }


def _reserved(version: int, rank: int, is_short: bool) -> str:
    """An address of 240.0.0.0/4 (RFC 1112), or of 2001:db8::/32 (RFC 3849) as long as the other one is written."""
    if version == 4:
        return str(IPv4Address("240.0.0.0") + rank)
    address = IPv6Address("2001:db8::") + rank
    return str(address) if is_short else ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))
