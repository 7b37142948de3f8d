"""Quality: which windows are judged again, and how their verdicts change as more becomes known."""

from kafka_hindsight.catalog.codes import RowChange
from kafka_hindsight.catalog.model import Table, optional, required

VERDICT_CHANGES = Table(
    layer="quality",
    name="verdict_changes",
    grain="one verdict that is another with today's knowledge and records, as one reclassification found it",
    key=("run_id", "cluster", "table", "row_id"),
    columns=(
        required("cluster", "STRING", "The cluster, by its name in this lake"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("table", "STRING", "The gold table"),
        required("row_id", "STRING", "The id of its row"),
        required("subject", "STRING", "The group, partition or broker it is about; of an incident its kind"),
        required("happened_at", "TIMESTAMP", "When it began"),
        required("change", "STRING", "What became of it", codes=RowChange),
        optional("verdict_before", "STRING", "Its cause or kind as it was published; null where it appeared"),
        optional("verdict_after", "STRING", "Its cause or kind now; null where it is gone"),
        optional("confidence_before", "STRING", "How sure that was"),
        optional("confidence_after", "STRING", "How sure this is"),
        optional("knowledge_before", "STRING", "Version of the knowledge that judged it before"),
        optional("knowledge_after", "STRING", "Version of the knowledge that judges it now"),
        required("run_id", "STRING", "The run that judged the window again"),
        required("run_reclassified_at", "TIMESTAMP", "When"),
    ),
)

LATE_WINDOWS = Table(
    layer="quality",
    name="late_windows",
    grain="one earlier window that records touched after it had been published, as one run found it",
    key=("run_id", "cluster", "window_from", "window_to"),
    columns=(
        required("cluster", "STRING", "The cluster, by its name in this lake"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("records", "BIGINT", "Records that it is judged by and that came late", unit="records"),
        required("sources", "ARRAY<STRING>", "The logs they are from: the first twenty by name"),
        required("first_at", "TIMESTAMP", "Instant of the first of them"),
        required("last_at", "TIMESTAMP", "Instant of the last of them"),
        required("run_id", "STRING", "The run that found it, and then judged it again"),
        required("run_found_at", "TIMESTAMP", "When"),
    ),
)

TABLES = (VERDICT_CHANGES, LATE_WINDOWS)
