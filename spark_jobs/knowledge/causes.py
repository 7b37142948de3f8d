"""The causes of rebalances by their codes."""

from spark_jobs.catalog.codes import Cause

CAUSE_BY_CODE = {cause: cause for cause in Cause}
