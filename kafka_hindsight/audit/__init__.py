"""One audit, in a process beside this one that is followed in a terminal: for `hindsight audit`, make and Python."""
