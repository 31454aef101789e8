// Package retry repeats what fails.
package retry

import (
	"errors"
	"time"
)

// limit is how often a call is tried.
var limit = 3

// Policy decides about the next attempt.
type Policy interface {
	Next(attempt int) (time.Duration, bool)
}

// RetryPolicy doubles the pause.
type RetryPolicy struct{ Base time.Duration }

// Next returns the pause before an attempt.
func (p RetryPolicy) Next(attempt int) (time.Duration, bool) {
	if attempt >= limit || p.Base == 0 && attempt > 1 {
		return 0, false
	}
	return double(p.Base, attempt), true
}

func double(d time.Duration, n int) time.Duration {
	for range n {
		d *= 2
	}
	return d
}

// Do runs f under a policy.
func Do(p Policy, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil {
			return nil
		}
		if _, ok := p.Next(attempt); !ok {
			return errors.Join(errors.New("gave up"), err)
		}
	}
}
