// A consumer of one of Go's libraries that does what it is asked, one JSON object a line, on its standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

type order struct {
	Do     string            `json:"do"`
	Config map[string]string `json:"config"`
	Topics []string          `json:"topics"`
}

// A consumer runs until the context is cancelled, and has left its group when it returns.
type consumer func(ctx context.Context, config map[string]string, topics []string)

var consumers = map[string]consumer{"franz-go": franz, "sarama": ofSarama, "kafka-go": segmentio}

const rebalance = 9 * time.Second

func main() {
	orders := bufio.NewScanner(os.Stdin)
	var first order
	if !orders.Scan() || json.Unmarshal(orders.Bytes(), &first) != nil || first.Do != "join" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		consumers[os.Args[1]](ctx, first.Config, first.Topics)
		close(done)
	}()
	for orders.Scan() && !strings.Contains(orders.Text(), `"leave"`) {
		log.Printf("This member cannot do %s.", orders.Text())
	}
	cancel()
	<-done
}

func brokers(config map[string]string) []string {
	return strings.Split(config["bootstrap.servers"], ",")
}

func millis(config map[string]string, name string) time.Duration {
	n, err := strconv.Atoi(config[name])
	if err != nil {
		log.Fatalf("Found: %s=%s. Needed: milliseconds.", name, config[name])
	}
	return time.Duration(n) * time.Millisecond
}

func millisOr(config map[string]string, name string, otherwise time.Duration) time.Duration {
	if _, ok := config[name]; ok {
		return millis(config, name)
	}
	return otherwise
}
