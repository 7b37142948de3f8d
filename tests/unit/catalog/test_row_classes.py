"""A table is what its class says: types, nulls, units and codes follow from the annotations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.codes import Confidence, Harm
from kafka_hindsight.catalog.row import Long, Millis, OneOf, Row, Unit, WrittenLast, struct, table
from kafka_hindsight.catalog.rows import ROW_CLASS
from kafka_hindsight.catalog.table_model import Check, Column, ListOf, Scalar, Table, sql_type
from kafka_hindsight.lake.arrow_types import arrow_schema
from tests.support.spark_rows import columns_ddl

AT = datetime(2026, 11, 21, tzinfo=UTC)

SURE = (Confidence.CERTAIN, Confidence.LIKELY)
WEIGHED = Check("has_weight", "weight > 0", "no pet weighs nothing")


@struct
class Walk(Row):
    """One walk."""

    at: datetime
    took: Long | None = None


@table("gold.pets", key=("pet_id",), time_column="born_at")
class Pet(Row):
    """One pet, as its owner saw it."""

    pet_id: Annotated[str, "Its id"]
    born_at: Annotated[datetime, "When it was born"]
    weight: Annotated[int | None, "How heavy it is", Unit("g")] = None
    slept_ms: Annotated[Millis | None, "How long it slept"] = None
    harm: Annotated[Harm | None, "What it did"] = None
    confidence: Annotated[Confidence, "How sure that is", OneOf(SURE)]
    walks: Annotated[list[Walk] | None, "Where it was"] = None
    best: Annotated[Walk | None, "The best of them"] = None
    lengths: Annotated[list[Long], "How long they were"]
    version: Annotated[str | None, "Who judged it", WrittenLast] = None

    CHECKS = (WEIGHED,)


def test_table_is_derived_from_its_row_class() -> None:
    assert (
        Table(
            Pet,
            "gold",
            "pets",
            "one pet, as its owner saw it",
            ("pet_id",),
            (
                Column("pet_id", Scalar.STRING, "Its id", nullable=False),
                Column("born_at", Scalar.TIMESTAMP, "When it was born", nullable=False),
                Column("weight", Scalar.INT, "How heavy it is", unit="g"),
                Column("slept_ms", Scalar.BIGINT, "How long it slept", unit="ms"),
                Column("harm", Scalar.STRING, "What it did", codes=tuple(Harm)),
                Column("confidence", Scalar.STRING, "How sure that is", nullable=False, codes=SURE),
                Column("walks", ListOf(Walk), "Where it was"),
                Column("best", Walk, "The best of them"),
                Column("lengths", ListOf(Scalar.BIGINT), "How long they were", nullable=False),
                Column("version", Scalar.STRING, "Who judged it", nullable=False),
            ),
            "born_at",
            (WEIGHED,),
        )
        == Pet.TABLE
    )


def test_sql_and_arrow_types_follow_from_the_row_class() -> None:
    assert sql_type(ListOf(Walk)) == "ARRAY<STRUCT<at: TIMESTAMP, took: BIGINT>>"
    assert "`weight` INT COMMENT 'How heavy it is [g]'" in columns_ddl(Pet.TABLE)
    assert "`version` STRING NOT NULL COMMENT 'Who judged it'" in columns_ddl(Pet.TABLE)
    schema = arrow_schema(Pet.TABLE)
    assert str(schema.field("walks").type) == "list<item: struct<at: timestamp[us, tz=UTC], took: int64>>"
    assert [field.name for field in schema if not field.nullable] == [
        "pet_id",
        "born_at",
        "confidence",
        "lengths",
        "version",
    ]


def test_row_survives_round_trip_through_a_mapping() -> None:
    walk = {"at": AT, "took": None}
    fields = {"pet_id": "1", "born_at": AT, "harm": "routine", "confidence": "certain", "walks": [walk], "lengths": []}
    pet = Pet.of(fields | {"best": walk, "tail": "long"})
    assert (pet.harm, pet.walks, pet.best, pet.version) == (Harm.ROUTINE, [Walk(at=AT)], Walk(at=AT), None)
    assert pet.as_dict() == dict.fromkeys(Pet.TABLE.column_names) | fields | {"best": walk}
    with pytest.raises(TypeError, match="lengths"):
        Pet.of({"pet_id": "1", "born_at": AT, "confidence": "certain"})
    with pytest.raises(ValueError, match="a guess"):
        Pet.of(fields | {"confidence": "a guess"})


@pytest.mark.parametrize("hint", [complex, list[complex] | None, int | str, dict[str, int]])
def test_unsupported_column_type_is_refused(hint: Any) -> None:
    cls = type("Spider", (Row,), {"__annotations__": {"legs": Annotated[hint, "How many"]}})
    with pytest.raises(TypeError, match=r"Column legs has the type .*\. Needed: str, int, .* or a list"):
        struct(cls)


@pytest.mark.parametrize("cls", ROW_CLASS.values(), ids=lambda cls: cls.__name__)
def test_every_table_has_grain_key_and_meaning_of_columns(cls: type[Row]) -> None:
    declared = cls.TABLE
    assert declared.grain
    assert all(column.meaning for column in declared.columns)
    assert {*declared.key, declared.time_column or declared.key[0]} <= set(declared.column_names)
    assert declared.layer == "internal" or BY_NAME[declared.full_name] is declared
