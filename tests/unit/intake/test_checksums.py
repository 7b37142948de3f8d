"""The checksum by arrays is the one byte by byte, for any length."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from kafka_hindsight.intake.checksums import fast_crc32c
from kafka_hindsight.kafka_records.batches import crc32c


@given(st.binary(max_size=60), st.sampled_from((1, 1, 70, 300)))
@example(b"123456789", 1)
@example(bytes(range(256)), 16)
@example(b"x", 4097)
@example(b"xyz", 1365)
@example(bytes(range(250)), 40)
def test_fast_checksum_is_the_slow_one(data: bytes, times: int) -> None:
    assert fast_crc32c(data * times) == crc32c(data * times)


def test_fast_checksum_of_rfc_3720() -> None:
    assert (fast_crc32c(b"123456789"), fast_crc32c(bytes(32))) == (0xE3069283, 0x8A9136AA)
