package hub

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"orchestrator-cc/bus"
	"orchestrator-cc/ledger"
	"orchestrator-cc/protocol"
)

// book keeps the ledger in step with the stream. Entries are appended by many
// and applied by one, the follower, in the stream's order; whoever appended
// waits until its entries are applied, so it always sees its own writes.
type book struct {
	stream *bus.Log
	log    zerolog.Logger

	mu      sync.Mutex
	ledger  *ledger.Ledger
	claimed map[string]chan struct{} // ids admitted whose entry is not applied yet; closed when it is, or never will be
	changed chan struct{}            // closed and replaced whenever the ledger changed

	snapshotSeq uint64
}

// snapshotEvery bounds how many entries a restart replays.
const snapshotEvery = 50_000

// openBook restores the newest snapshot and replays what came after it.
func openBook(stream *bus.Log, l *ledger.Ledger, log zerolog.Logger) (*book, error) {
	b := &book{stream: stream, ledger: l, log: log, claimed: map[string]chan struct{}{}, changed: make(chan struct{})}
	after := uint64(0)
	if seq, data, ok := stream.Snapshot(); ok {
		if err := l.Restore(data); err != nil {
			log.Warn().Err(err).Uint64("seq", seq).Msg("snapshot not usable, replaying everything")
		} else {
			after, b.snapshotSeq = seq, seq
		}
	}
	ctx := context.Background()
	reader := stream.Follow(ctx, after)
	for last := stream.Last(); l.Seq() < last; {
		e, err := reader.Next(ctx)
		if err != nil {
			return nil, fmt.Errorf("read entry after %d: %w", l.Seq(), err)
		}
		l.Apply(e)
	}
	return b, nil
}

// follow applies entries until ctx ends.
func (b *book) follow(ctx context.Context) error {
	b.mu.Lock()
	reader := b.stream.Follow(ctx, b.ledger.Seq())
	b.mu.Unlock()
	for {
		e, err := reader.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow the stream: %w", err)
		}
		b.apply(e)
	}
}

func (b *book) apply(e protocol.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ledger.Apply(e)
	if e.Message != nil {
		b.settle(e.Message.Message.ID())
	}
	close(b.changed)
	b.changed = make(chan struct{})
	if e.Seq >= b.snapshotSeq+snapshotEvery {
		b.snapshot(e.Seq)
	}
}

// snapshot is called with the lock held. One that cannot be written costs
// only a longer replay.
func (b *book) snapshot(seq uint64) {
	b.snapshotSeq = seq
	data, err := b.ledger.Snapshot()
	if err == nil {
		err = b.stream.SaveSnapshot(seq, data)
	}
	if err == nil {
		err = b.trim(seq, time.Now().Add(-keptFor))
	}
	if err != nil {
		b.log.Warn().Err(err).Msg("snapshot not written")
	}
}

// keptFor is how long the stream remembers what is over; the ledger forgets
// closed tasks after the same time.
const keptFor = 30 * 24 * time.Hour

// trim drops what is older than a moment and in the snapshot already. Times
// rise with the entries, so the border is found by halving. Where a clock was
// set back they do not: then the border may be any that halving finds, and what
// is dropped too early is still in the snapshot and in the journal.
func (b *book) trim(snapshot uint64, before time.Time) error {
	first := b.stream.First()
	if first == 0 || first >= snapshot {
		return nil
	}
	older := sort.Search(int(snapshot-first), func(i int) bool {
		e, err := b.stream.Read(first + uint64(i))
		return err == nil && e.Time.After(before)
	})
	if older == 0 {
		return nil
	}
	return b.stream.Trim(first + uint64(older))
}

// append makes entries durable and returns once they are applied.
func (b *book) append(ctx context.Context, batch ...protocol.Entry) error {
	if len(batch) == 0 {
		return nil
	}
	now := time.Now().UTC()
	for i := range batch {
		if batch[i].Time.IsZero() {
			batch[i].Time = now
		}
	}
	last, err := b.stream.Append(ctx, batch...)
	if err != nil {
		return err
	}
	return b.await(ctx, last)
}

// await blocks until the ledger has seen seq.
func (b *book) await(ctx context.Context, seq uint64) error {
	for {
		b.mu.Lock()
		done, changed := b.ledger.Seq() >= seq, b.changed
		b.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// admit checks a message against the ledger. One with the id of a message that
// is on its way into it waits until that is there, or has failed: whoever sends
// a thing twice at once learns what became of the first.
func (b *book) admit(ctx context.Context, a *protocol.Accepted, now time.Time) error {
	id := a.Message.ID()
	for {
		b.mu.Lock()
		first, busy := b.claimed[id]
		if !busy {
			err := b.ledger.Admit(a, now)
			if err == nil {
				b.claimed[id] = make(chan struct{})
			}
			b.mu.Unlock()
			return err
		}
		b.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// release forgets a message that was admitted but not appended.
func (b *book) release(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(id)
}

// settle is called with the lock held.
func (b *book) settle(id string) {
	if claim, ok := b.claimed[id]; ok {
		close(claim)
		delete(b.claimed, id)
	}
}

// read runs f while nothing changes the ledger.
func (b *book) read(f func(*ledger.Ledger)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b.ledger)
}

// wait returns a channel that closes at the ledger's next change.
func (b *book) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
