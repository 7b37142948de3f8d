"""Known lines of loggers that matter which carry nothing we use: what is left after them is honestly unread."""

from spark_jobs.knowledge import noise_brokers, noise_clients, noise_controllers
from spark_jobs.knowledge.model import Noise

NOISE: tuple[Noise, ...] = (*noise_brokers.NOISE, *noise_controllers.NOISE, *noise_clients.NOISE)
