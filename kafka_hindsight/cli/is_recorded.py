"""Whether the window of a run lies before the first record.

`python -m kafka_hindsight.cli.is_recorded SETTINGS`, with settings as JSON, prints true or false for Airflow's plugin.
"""

from __future__ import annotations

import json
import sys

from kafka_hindsight.intake.first_record import is_before_first_record
from kafka_hindsight.settings.models import Settings

if __name__ == "__main__":
    print(json.dumps(is_before_first_record(Settings.of(json.loads(sys.argv[1])))))
