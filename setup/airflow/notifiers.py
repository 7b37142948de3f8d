"""The notifiers: send the alerts of a lake after a task that succeeded, and after one that failed."""

from hindsight_alerts import Failure, Look

__all__ = ["Failure", "Look"]
