"""The session timeout of Kafka's own, by which sessions are judged where no line shows theirs."""

SESSION_TIMEOUT_MS = 45_000
"""Kafka's own session.timeout.ms since 3.0, chosen to survive a short network fault. A longer one is not
simulated: it hides dead members for longer than Kafka's authors would. Source: KIP-735."""
