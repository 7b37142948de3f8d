"""The trigger of a step's application on YARN, by the name under which the triggerer imports it."""

from hindsight_trigger import YarnTrigger

__all__ = ["YarnTrigger"]
