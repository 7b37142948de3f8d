"""Lines that are known to carry nothing we use, of loggers that have patterns: every other line counts as unparsed."""

from kafka_hindsight.knowledge import (
    noise_brokers,
    noise_clients,
    noise_controllers,
    noise_groups,
    noise_libraries,
    noise_logs,
    noise_state_changes,
    noise_zookeeper,
)
from kafka_hindsight.knowledge.model import Noise

NOISE: tuple[Noise, ...] = (
    *noise_groups.NOISE,
    *noise_logs.NOISE,
    *noise_state_changes.NOISE,
    *noise_brokers.NOISE,
    *noise_controllers.NOISE,
    *noise_zookeeper.NOISE,
    *noise_clients.NOISE,
    *noise_libraries.NOISE,
)
