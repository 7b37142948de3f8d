"""Every log line that is read, one pattern each."""

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns import (
    coordinator,
    group_java,
    group_java_members,
    group_kip848,
    group_scala,
    group_scala_members,
    group_scala_static,
)

PATTERNS: tuple[Pattern, ...] = (
    *group_scala.PATTERNS,
    *group_scala_members.PATTERNS,
    *group_scala_static.PATTERNS,
    *group_java.PATTERNS,
    *group_java_members.PATTERNS,
    *group_kip848.PATTERNS,
    *coordinator.PATTERNS,
)
