"""Why rebalances begin: each cause once, with what it needs, what rules it out, what to do, and captured lines."""

from spark_jobs.knowledge.causes.changes import CHANGE_CAUSES
from spark_jobs.knowledge.causes.coordinator import COORDINATOR_CAUSES
from spark_jobs.knowledge.causes.members import MEMBER_CAUSES
from spark_jobs.knowledge.model import Cause

CAUSES: tuple[Cause, ...] = (*MEMBER_CAUSES, *CHANGE_CAUSES, *COORDINATOR_CAUSES)
CAUSE_BY_CODE: dict[str, Cause] = {cause.code: cause for cause in CAUSES}
