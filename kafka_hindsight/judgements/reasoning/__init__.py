"""The parts that all judgements share: rulings, evidence, timelines."""
