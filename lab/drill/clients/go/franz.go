package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func franz(ctx context.Context, config map[string]string, topics []string) {
	dated := func() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000 ") }
	reset := kgo.NewOffset().AtStart()
	if config["auto.offset.reset"] == "latest" {
		reset = kgo.NewOffset().AtEnd()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers(config)...), kgo.ConsumerGroup(config["group.id"]), kgo.ClientID(config["client.id"]),
		kgo.ConsumeTopics(topics...), kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, dated)),
		kgo.SessionTimeout(millis(config, "session.timeout.ms")), kgo.RebalanceTimeout(rebalance),
		kgo.HeartbeatInterval(millis(config, "heartbeat.interval.ms")), kgo.ConsumeResetOffset(reset),
		kgo.AutoCommitInterval(millisOr(config, "auto.commit.interval.ms", 5*time.Second)))
	if err != nil {
		log.Fatal(err)
	}
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachPartition(func(batch kgo.FetchTopicPartition) {
			if count := len(batch.Records); count > 0 {
				fmt.Printf("%d read %s-%d %d %d %d\n", time.Now().UnixMilli(), batch.Topic, batch.Partition,
					batch.Records[0].Offset, batch.Records[count-1].Offset, count)
			}
		})
	}
	client.Close()
}
