package api

import (
	"sync"
	"time"
)

// pace bounds how fast one caller may ask: each has a bucket that fills at a
// steady rate and holds two seconds' worth.
type pace struct {
	rate float64 // per second

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// mostBuckets bounds the memory that strangers can take: beyond it, the full
// buckets, which say nothing, are forgotten.
const mostBuckets = 10_000

func newPace(rate float64) *pace { return &pace{rate: rate, buckets: map[string]bucket{}} }

// take tells whether the caller may ask now.
func (p *pace) take(who string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := 2 * p.rate
	b, known := p.buckets[who]
	if !known {
		p.forget(now)
		b = bucket{left: most, at: now}
	}
	b.left = min(most, b.left+now.Sub(b.at).Seconds()*p.rate)
	b.at = now
	ok := b.left >= 1
	if ok {
		b.left--
	}
	p.buckets[who] = b
	return ok
}

// forget is called with the lock held.
func (p *pace) forget(now time.Time) {
	if len(p.buckets) < mostBuckets {
		return
	}
	for who, b := range p.buckets {
		if b.left+now.Sub(b.at).Seconds()*p.rate >= 2*p.rate {
			delete(p.buckets, who)
		}
	}
	if len(p.buckets) >= mostBuckets {
		clear(p.buckets)
	}
}
