"""Logs in CloudWatch: filter_log_events over the streams of a group, in the order of time.

Source: the reference of the CloudWatch Logs API, FilterLogEvents: the events of all streams are sorted by their time, a
page may be empty while others follow, events at startTime and at endTime are among them, each has an id of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ProfileNotFound,
)

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import micros_of
from kafka_hindsight.sources.model import Batch, Period, SourceFails, batched, lines_in
from kafka_hindsight.sources.ties import Ties

_AT_ONCE = 1_000
"""Events of a batch."""
_ATTEMPTS = 8
"""The API allows few questions a second: the client waits longer from one to the next, up to twenty seconds."""
_TO_MEND = (NoCredentialsError, NoRegionError, ParamValidationError, ProfileNotFound)
_TRIED_AGAIN = ("ThrottlingException", "LimitExceededException")


@dataclass(frozen=True)
class CloudWatch:
    """`group`, of its streams those whose names begin with `streams`, and `region` where the environment names another.

    Credentials are those of the environment: variables, the files of the AWS CLI, or a role.
    """

    group: str
    streams: str = ""
    region: str = ""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Page after page from the instant of the last event on: what has that instant and was taken is left."""
        ties = Ties[dict[str, Any]](position)
        start = micros_of(period.since) // 1000 if ties.at is None else ties.at
        end = micros_of(period.until) // 1000 - 1
        prefix = {"logStreamNamePrefix": self.streams} if self.streams else {}
        asked = {"logGroupName": self.group, "startTime": start, "endTime": end, "interleaved": True, **prefix}
        try:
            for events in batched(ties.new(self._events(asked)), _AT_ONCE) if start <= end else ():
                lines = [line for e in events for line in lines_in(e["message"].encode(), e["logStreamName"])]
                yield Batch(lines, ties.position)
        except ClientError as refusal:
            raise self._refused(refusal) from None
        except _TO_MEND as problem:
            raise BadInput(
                f"The log group {self.group} cannot be read: {problem}. Needed: credentials and a region."
            ) from None
        except BotoCoreError as failure:
            raise SourceFails(f"CloudWatch gives no answer: {failure}. The next try goes on.") from None

    def _events(self, asked: dict[str, Any]) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        region = self.region or os.environ.get("AWS_REGION") or None
        config = Config(retries={"mode": "standard", "total_max_attempts": _ATTEMPTS})
        client = botocore.session.get_session().create_client("logs", region, config=config)
        for page in client.get_paginator("filter_log_events").paginate(**asked):
            yield from ((e["timestamp"], e["eventId"].encode(), e) for e in page["events"])

    def _refused(self, refusal: ClientError) -> Exception:
        """Edge case: what is said of a wrong signature goes on with the headers of the question."""
        code, said = (refusal.response["Error"].get(key, "") for key in ("Code", "Message"))
        what = f"The log group {self.group} cannot be read: {code}, {said.partition(chr(10))[0]}"
        if code in _TRIED_AGAIN or refusal.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            return SourceFails(f"{what} Needed: an answer. The next try goes on.")
        return BadInput(f"{what} Needed: a log group, and logs:FilterLogEvents on it. Check group, region and rights.")
