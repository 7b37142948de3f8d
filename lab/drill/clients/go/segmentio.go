package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

func segmentio(ctx context.Context, config map[string]string, topics []string) {
	// A close waits for the fetch under way: with the default of 10 s the session would be over first.
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: brokers(config), GroupID: config["group.id"], GroupTopics: topics, StartOffset: kafka.FirstOffset,
		MaxWait:          time.Second,
		Dialer:           &kafka.Dialer{ClientID: config["client.id"], Timeout: 10 * time.Second},
		SessionTimeout:   millis(config, "session.timeout.ms"),
		RebalanceTimeout: rebalance, HeartbeatInterval: millis(config, "heartbeat.interval.ms"),
		Logger:      log.New(os.Stderr, "kafka reader: ", log.LstdFlags),
		ErrorLogger: log.New(os.Stderr, "kafka reader error: ", log.LstdFlags)})
	for ctx.Err() == nil {
		if _, err := reader.ReadMessage(ctx); err != nil && ctx.Err() == nil {
			log.Println("read:", err)
		}
	}
	reader.Close()
}
