"""The notifiers: a look at a lake after a task that succeeded, and after one that failed."""

from hindsight_alerts import Failure, Look

__all__ = ["Failure", "Look"]
