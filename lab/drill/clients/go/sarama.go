package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/IBM/sarama"
)

type handler struct{}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
	}
	return nil
}

func ofSarama(ctx context.Context, config map[string]string, topics []string) {
	sarama.Logger = log.New(os.Stderr, "[sarama] ", log.LstdFlags)
	settings := sarama.NewConfig()
	settings.ClientID = config["client.id"]
	settings.Version = sarama.V2_6_0_0
	settings.Consumer.Group.Session.Timeout = millis(config, "session.timeout.ms")
	settings.Consumer.Group.Heartbeat.Interval = millis(config, "heartbeat.interval.ms")
	settings.Consumer.Group.Rebalance.Timeout = rebalance
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	group, err := sarama.NewConsumerGroup(brokers(config), config["group.id"], settings)
	if err != nil {
		log.Fatal(err)
	}
	for ctx.Err() == nil {
		if err := group.Consume(ctx, topics, handler{}); err != nil {
			log.Println("consume:", err)
			time.Sleep(time.Second)
		}
	}
	group.Close()
}
