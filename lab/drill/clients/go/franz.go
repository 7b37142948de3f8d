package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func franz(ctx context.Context, config map[string]string, topics []string) {
	dated := func() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000 ") }
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers(config)...), kgo.ConsumerGroup(config["group.id"]), kgo.ClientID(config["client.id"]),
		kgo.ConsumeTopics(topics...), kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, dated)),
		kgo.SessionTimeout(millis(config, "session.timeout.ms")), kgo.RebalanceTimeout(rebalance),
		kgo.HeartbeatInterval(millis(config, "heartbeat.interval.ms")))
	if err != nil {
		log.Fatal(err)
	}
	for ctx.Err() == nil {
		client.PollFetches(ctx)
	}
	client.Close()
}
