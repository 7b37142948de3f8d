"""Rebalances of one group: its events in order become episodes, and each episode gets its cause.

timeline (classic) and epochs (KIP-848) rebuild what happened; members knows who is who; judge says why;
delays says who was waited for; rows writes it down. Plain Python over one group's events.
"""

from spark_jobs.transforms.rebalances.group import rebuild_group
from spark_jobs.transforms.rebalances.model import GroupContext, GroupHistory

__all__ = ["GroupContext", "GroupHistory", "rebuild_group"]
