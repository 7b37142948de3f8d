"""The hook of a connection of type `hindsight`."""

from hindsight_hook import HindsightHook

__all__ = ["HindsightHook"]
