"""Lines that are known to carry nothing we use, of loggers that have patterns: every other line counts as unparsed."""

from spark_jobs.knowledge import noise_brokers, noise_clients, noise_controllers
from spark_jobs.knowledge.model import Noise

NOISE: tuple[Noise, ...] = (*noise_brokers.NOISE, *noise_controllers.NOISE, *noise_clients.NOISE)
