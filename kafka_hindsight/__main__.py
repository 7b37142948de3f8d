"""`python -m kafka_hindsight`: the command `hindsight`."""

import sys

from kafka_hindsight.cli.main import main

sys.exit(main())
