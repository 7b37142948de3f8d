"""The settings of a producer that decide whether its records are kept, and the errors of its requests."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_hindsight.catalog.codes import ProducerFailureKind

ACKS = "acks"
IDEMPOTENCE = "enable.idempotence"
RETRIES = "retries"
DELIVERY_TIMEOUT = "delivery.timeout.ms"
REQUEST_TIMEOUT = "request.timeout.ms"
IN_FLIGHT = "max.in.flight.requests.per.connection"
TRANSACTIONAL_ID = "transactional.id"

PRODUCER_SETTINGS = (ACKS, DELIVERY_TIMEOUT, IDEMPOTENCE, IN_FLIGHT, REQUEST_TIMEOUT, RETRIES, TRANSACTIONAL_ID)
"""In the order in which a Java producer logs them."""

ALL = "all"
"""acks of every replica in sync, which Java prints as -1."""

_OF_CLASSES = {"NETWORK": "NETWORK_EXCEPTION", "KAFKA_STORAGE": "KAFKA_STORAGE_ERROR"}
"""The errors whose exceptions have a shorter name. Source: Errors.java."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KINDS: Mapping[str, ProducerFailureKind] = {error: kind for kind in ProducerFailureKind for error in kind.noun.errors}


def name_of_error(error: str | None) -> str:
    """The name that Kafka's protocol has for an error, by that name or by the class of an exception."""
    name = (error or "").rpartition(".")[2].lstrip("_")
    if not name.isupper():
        name = _WORD.sub("_", name.removesuffix("Exception").removesuffix("Error")).upper()
    return _OF_CLASSES.get(name, name)


def kind_of_error(error: str | None) -> ProducerFailureKind:
    """The kind of a failure by its error."""
    return _KINDS.get(name_of_error(error), ProducerFailureKind.OTHER)
