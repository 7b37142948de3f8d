"""What clients of the Thrift server may ask, by the names of Spark's classes, functions and settings.

Whatever is not listed is refused, also what a later Spark or Delta brings.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUERY = """
Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect Join LateralJoin
LimitAll LocalLimit LocalRelation Offset OneRowRelation PipeOperator Pivot Project Range RebalancePartitions Repartition
RepartitionByExpression ResolvedHint Sample Sort SubqueryAlias Tail Union UnionLoop UnionLoopRef Unpivot Window WithCTE
WithWindowDefinition
"""

PARSED = _names(f"""
{_QUERY}
RelationTimeTravel TimeTravel UnresolvedHaving UnresolvedHint UnresolvedInlineTable UnresolvedQualify UnresolvedRelation
UnresolvedSubqueryColumnAliases UnresolvedTableValuedFunction UnresolvedTVFAliases UnresolvedWith
DescribeColumn DescribeDeltaHistory DescribeFunction DescribeNamespace DescribeQueryCommand DescribeRelation
ExplainCommand SetCatalogAndNamespace SetCommand SetNamespaceCommand ShowCatalogsCommand ShowColumns
ShowCurrentNamespaceCommand ShowFunctions ShowNamespacesCommand ShowTableProperties ShowTables
ShowTablesExtended ShowViews
CurrentNamespace$ UnresolvedFunctionName UnresolvedNamespace UnresolvedTable UnresolvedTableOrView
""")
"""The plans of a statement that was parsed."""

ANALYZED = _names(f"""
{_QUERY}
DataSourceV2Relation LogicalRelation ResolvedInlineTable View
CommandResult DeserializeToObject LogicalRDD MapElements MapPartitions SerializeFromObject TypedFilter
DescribeColumn DescribeColumnCommand DescribeDeltaHistory DescribeDeltaHistoryCommand DescribeFunctionCommand
DescribeNamespace DescribeQueryCommand DescribeRelation DescribeTableCommand
ExplainCommand SetCatalogAndNamespace SetCommand SetNamespaceCommand ShowCatalogsCommand ShowColumnsCommand
ShowCurrentNamespaceCommand ShowDeltaTableColumnsCommand ShowFunctionsCommand
ShowNamespacesCommand ShowTableProperties ShowTablePropertiesCommand ShowTables ShowTablesCommand
ShowTablesExtended ShowViewsCommand
ResolvedNamespace ResolvedTable
""")
"""The plans of a statement that was analyzed, and those by which Delta reads its own logs."""

FILES = _names("DeltaLogFileIndex PreparedDeltaFileIndex TahoeLogFileIndex")
"""What lists the files of a table: Delta's classes do, and a path's does not."""

FUNCTION_GROUPS = _names("""
agg_funcs array_funcs bitwise_funcs collection_funcs conditional_funcs conversion_funcs csv_funcs datetime_funcs
generator_funcs hash_funcs json_funcs lambda_funcs map_funcs math_funcs predicate_funcs sketch_funcs string_funcs
struct_funcs url_funcs variant_funcs vector_funcs window_funcs
""")
"""Spark's groups of functions that compute from their arguments alone."""

FUNCTIONS = _names("""
assert_true bitmap_bit_position bitmap_bucket_number bitmap_count current_catalog current_database current_schema
current_user monotonically_increasing_id raise_error range session_user spark_partition_id typeof user uuid version
""")
"""The functions of other groups that do so too. No XML, Avro or Protobuf: their options name files."""

SETTINGS = frozenset(
    {
        "use:database",
        "set:hiveconf:hive.server2.thrift.resultset.default.fetch.size",
    }
)
"""What Hive's clients send as they connect. Any other setting is refused: those reach Spark, Hadoop, Hive and Java."""
