"""What may be asked of the lake in DuckDB's SQL, by the names of its functions.

Whatever is not listed is refused, also what a later DuckDB brings. Some functions of DuckDB write files (`write_blob`),
list and read them (`glob`), connect (`delta_scan`), switch logs on (`enable_logging`) or run SQL from a text (`query`).
DuckDB's own lock stops only a part of them.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator

import duckdb

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible

_TABLE_FUNCTIONS = """
duckdb_columns duckdb_constraints duckdb_databases duckdb_functions duckdb_keywords duckdb_schemas duckdb_tables
duckdb_types duckdb_variables duckdb_views generate_series histogram histogram_values icu_calendar_names json_each
json_tree pg_timezone_names pragma_show pragma_table_info pragma_version range repeat repeat_row summary unnest
"""

_OF_LISTS = """
aggr aggregate any_value append apply approx_count_distinct avg bit_and bit_or bit_xor bool_and bool_or cat concat
contains cosine_distance cosine_similarity count cross_product distance distinct dot_product element entropy extract
filter first grade_up has has_all has_any histogram indexof inner_product intersect kurtosis kurtosis_pop last
length mad max median min mode negative_dot_product negative_inner_product pack pop_back pop_front position prepend
product push_back push_front reduce resize reverse reverse_sort select sem skewness slice sort stddev_pop
stddev_samp string_agg sum to_json to_string transform unique value var_pop var_samp where zip
"""
"""Functions whose names begin with `list_` or `array_`."""

_OTHERS = """
!__postfix !~~ !~~* % & && * ** + - ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
abs acos acosh add age aggregate ago any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max
arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg ascii asin asinh
atan atan2 atanh avg bar base64 bin bit_and bit_count bit_length bit_or bit_position bit_xor bitstring bitstring_agg
bool_and bool_or cardinality cbrt ceil ceiling century char_length character_length chr concat concat_ws contains
corr cos cosh cot count count_if count_star countif covar_pop covar_samp cume_dist current_catalog current_database
current_date current_localtime current_localtimestamp current_role current_schema current_schemas current_user
damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname
dayofmonth dayofweek dayofyear days_in_month decade decode degrees dense_rank divide editdist3 element_at encode
ends_with entropy enum_code enum_first enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us
equi_width_bins era error even exp factorial favg fdiv fill filter first first_value flatten floor fmod format
format_bytes format_type formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex from_json
from_json_strict fsum gamma gcd gen_random_uuid generate_series geomean geometric_mean get_bit get_current_timestamp
getvariable grade_up greatest greatest_common_divisor group_concat hamming has_schema_privilege has_table_privilege
hash hex histogram histogram_exact hour ilike_escape in_search_path instr isfinite isinf isnan isodow isoyear jaccard
jaro_similarity jaro_winkler_similarity json json_array json_array_length json_contains json_exists json_extract
json_extract_path json_extract_path_text json_extract_string json_group_array json_group_object json_group_structure
json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform json_transform_strict
json_type json_valid json_value julian kahan_sum kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead
least least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma like_escape list
listagg ln log log10 log2 lower lpad ltrim mad make_date make_time make_timestamp make_timestamp_ms
make_timestamp_ns make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries
map_extract map_extract_value map_from_entries map_keys map_values max max_by md5 md5_number md5_number_lower
md5_number_upper mean median microsecond millennium millisecond min min_by minute mismatches mod mode month
monthname multiply nanosecond nextafter nfc_normalize normalized_interval not_ilike_escape not_like_escape now
nth_value ntile nullif octet_length ord parse_dirname parse_dirpath parse_filename parse_formatted_bytes parse_path
percent_rank pg_size_pretty pg_typeof pi position pow power prefix printf product quantile quantile_cont
quantile_disc quarter radians random range rank rank_dense reduce regexp_escape regexp_extract regexp_extract_all
regexp_full_match regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy regr_count regr_intercept
regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reservoir_quantile reverse right right_grapheme round
round_even roundbankers row row_number row_to_json rpad rtrim second sem session_user set_bit sha1 sha256 sign
signbit sin sinh skewness split split_part sqrt starts_with stddev stddev_pop stddev_samp str_split str_split_regex
strftime string_agg string_split string_split_regex string_to_array strip_accents strlen strpos strptime
struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert struct_keys
struct_pack struct_position struct_update struct_values substr substring substring_grapheme subtract suffix sum
sum_no_overflow sumkahan switch tan tanh time_bucket timezone timezone_hour timezone_minute to_base to_base64
to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia to_milliseconds
to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp translate
trim trunc try_strptime typeof ucase unbin unhex unicode union_extract union_tag union_value unpivot_list upper
url_decode url_encode user uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 var_pop var_samp variance
variant_extract variant_typeof version wavg week weekday weekofyear weighted_avg xor year yearweek
"""
"""Operators, and functions that compute from their arguments, the clock or chance."""

FUNCTIONS = frozenset(
    (*_TABLE_FUNCTIONS.split(), *_OTHERS.split(), *(f"{of}_{n}" for of in ("list", "array") for n in _OF_LISTS.split()))
)

_NAMED = re.compile(r'"(function|table|schema|catalog)_name":("(?:[^"\\]|\\.)*")')
"""A name in a statement as DuckDB writes its parts. In a text of the statement the quotation marks are escaped."""

_VARIABLE = re.compile(
    r"""(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:SET|RESET)\s+VARIABLE\s+(?:\w+|"[^"]*")\s*(?:(?:=|TO\b)(?P<value>.*))?""",
    re.IGNORECASE | re.DOTALL,
)


def statements(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[str, bool]]:
    """The statements of a text, each checked when its turn comes, and whether it is a query.

    Edge case: DuckDB turns some PRAGMAs into queries. What is checked is a text: execute that text.
    Raises: BadInput for a statement that is neither a query nor sets a variable, for a function that is not in
        FUNCTIONS, and for a table whose name may be that of a file.
    """
    for statement in connection.extract_statements(sql):
        text = statement.query.strip()
        if statement.type == duckdb.StatementType.SELECT:
            _check(connection, text)
            yield text, True
        elif statement.type == duckdb.StatementType.SET and (found := _VARIABLE.fullmatch(text.rstrip("; \n"))):
            if found["value"]:
                _check(connection, f"SELECT {found['value']}")
            yield text, False
        else:
            raise BadInput(
                f"Found a statement of type {statement.type.name}; the lake is read-only here. Needed: a query"
                " (SELECT, FROM, DESCRIBE, SUMMARIZE), SET VARIABLE or RESET VARIABLE."
            )


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    ((parsed,),) = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    if parsed.startswith('{"error":true'):
        raise BadInput(f"{visible(json.loads(parsed)['error_message'])} Needed: a query that DuckDB can parse.")
    for kind, quoted in _NAMED.findall(parsed):
        name = json.loads(quoted)
        if kind == "function" and name.lower() not in FUNCTIONS:
            raise BadInput(_refused(name))
        if kind != "function" and not re.fullmatch(r'\w*|"\w+"', name):
            raise BadInput(
                f"Found the table {visible(name)!r}; the lake is read-only here, and no file is read by its name."
                " Needed: a table as .tables lists them."
            )


def _refused(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), FUNCTIONS, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return (
        f"Found the function {visible(name)!r}; the lake is read-only here, and it is not in the list of functions that"
        f" only compute. Needed: a function of kafka_hindsight/sql/duck_rules.py.{hint}"
    )
