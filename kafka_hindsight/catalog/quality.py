"""Quality: what could be read, what could not, and what was checked. Its tables by name."""

from kafka_hindsight.catalog import rows

COVERAGE = rows.Coverage.TABLE
GENERATION_GAPS = rows.GenerationGap.TABLE
LATE_WINDOWS = rows.LateWindow.TABLE
LEADERSHIP_GAPS = rows.LeadershipGap.TABLE
METADATA_STATES = rows.MetadataState.TABLE
NIGHTS = rows.NightSummary.TABLE
PARSED_HOURS = rows.ParsedHour.TABLE
PUBLICATIONS = rows.Publication.TABLE
QUARANTINE = rows.Quarantine.TABLE
UNPARSED_LINES = rows.UnparsedLine.TABLE
VALIDATION_RESULTS = rows.ValidationResult.TABLE
VERDICT_CHANGES = rows.VerdictChange.TABLE
WITNESSES = rows.Witness.TABLE
INPUT_SPANS = rows.InputSpan.TABLE
WITHHELD_ROWS = rows.WithheldRow.TABLE

LOST_LINES = "lost lines"
"""The `row` in quality.quarantine of lines that their source did not give any more."""

OF_USER = "user."
"""What the name of an expectation of a user's own suite begins with."""
