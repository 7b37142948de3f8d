"""What all judgements share: rulings, the evidence that they quote, timelines."""
