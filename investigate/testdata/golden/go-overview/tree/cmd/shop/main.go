package main

import (
	"time"

	"example.com/shop/retry"
)

func order() error { return nil }

func main() {
	if err := retry.Do(retry.RetryPolicy{Base: time.Second}, order); err != nil {
		panic(err)
	}
}
