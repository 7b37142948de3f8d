"""What comes in: lines become records, records events, readings rows, each accounted for."""
