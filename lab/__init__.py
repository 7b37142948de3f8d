"""Where the product is tried: drills on real brokers, benchmarks, chaos, fuzzed SQL. Not part of the wheel."""
