"""The patterns of all log lines that are read. A new module is found without another change."""

from importlib import import_module
from pkgutil import iter_modules

from kafka_hindsight.catalog.kinds import CLIENT_KINDS
from kafka_hindsight.knowledge.layouts import PROGRAM, class_of
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns import clients_go, clients_kafkajs, clients_python


def discovered() -> tuple[Pattern, ...]:
    """The patterns of each module here. The order has no meaning: no record fits two patterns."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(pattern for module in modules for pattern in getattr(module, "PATTERNS", ()))


PATTERNS = discovered()

SAYS_LINES: frozenset[str] = frozenset(
    logger
    for module in (clients_python, clients_kafkajs, clients_go)
    for pattern in module.PATTERNS
    for logger in (*pattern.loggers, PROGRAM)
)
"""The loggers of libraries whose records are one line each."""

NAMES_NO_CLIENT: frozenset[str] = frozenset(
    p.pattern_id for p in PATTERNS if p.kind in CLIENT_KINDS and not {"client_id", "member_id"} & set(p.fields)
)
"""The patterns of clients' lines that name neither a client nor a member: their file shows which client wrote them."""

RELEVANT_CLASSES: frozenset[str] = frozenset(class_of(logger) for pattern in PATTERNS for logger in pattern.loggers)
"""The loggers whose lines matter: a line of theirs that no pattern claims and that is not noise is unparsed."""
