"""Rebalances of one group: its events in order become episodes, and each episode gets its cause.

timeline (classic) and epochs (KIP-848) rebuild what happened and who came and went, members keeps who is who; judge
finds the cause by the tables *_rulings; group finds who was waited for, and writes the rows. Plain Python over one
group's events.
"""

from kafka_hindsight.judgements.rebalances.group import GroupHistory, rebuild_group
from kafka_hindsight.judgements.rebalances.group_history import GroupContext

__all__ = ["GroupContext", "GroupHistory", "rebuild_group"]
