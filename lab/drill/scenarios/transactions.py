"""Scenarios of transactions, and of the brokers that coordinate them."""

from __future__ import annotations

from lab.drill.steps import CreateTopic, Scenario, Wait
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, StartBroker
from lab.drill.steps_on_transactions import Begin, Commit, PauseProducer, ResumeProducer, StartProducer

SHORT = {"transaction.timeout.ms": "8000"}

TRANSACTION_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "transaction_coordinator_killed",
        "A transaction whose coordinator dies goes on with the next one.",
        (
            CreateTopic(topic="t"),
            StartProducer(producer="p"),
            Begin(producer="p", topic="t"),
            KillBroker(broker="transactions"),
            Detected(broker="transactions"),
            Commit(producer="p"),
            StartBroker(broker="transactions"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "transaction_hanging",
        "A transaction whose producer stands still too long is aborted, and one that is fenced cannot commit.",
        (
            CreateTopic(topic="t"),
            StartProducer(producer="p", config=SHORT),
            Begin(producer="p", topic="t"),
            Commit(producer="p"),
            Begin(producer="p", topic="t"),
            PauseProducer(producer="p"),
            Wait(seconds=24),
            ResumeProducer(producer="p"),
            Commit(producer="p", refused=True),
            StartProducer(producer="q"),
            Begin(producer="q", topic="t"),
            StartProducer(producer="r"),
            Commit(producer="q", refused=True),
        ),
    ),
)
