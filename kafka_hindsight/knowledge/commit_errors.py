"""The errors of offset commits that the cluster answers for, as clients print them."""

from __future__ import annotations

import re

_OF_THE_CLUSTER = re.compile(
    r"not[ _](?:the correct )?coordinator|NotCoordinator"
    r"|coordinator[ _](?:is[ _])?(?:not[ _]available|load)|Coordinator(?:NotAvailable|LoadInProgress)"
    r"|GroupLoadInProgress|fewer in-sync replicas|not[ _]enough[ _](?:in-sync[ _])?replicas|NotEnoughReplicas",
    re.IGNORECASE,
)
"""Words of Errors.java, rd_kafka_err2str, kerr of franz-go, and the exceptions of Python's clients.

A request that timed out, or whose connection broke, is not among them: the client's host or network may be why."""


def is_of_the_cluster(error: str | None) -> bool:
    """Whether the brokers refused a commit because of their own state: they moved, load or lack replicas."""
    return error is not None and _OF_THE_CLUSTER.search(error) is not None
