package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"orchestrator-cc/protocol"
)

// key is a message id in 16 bytes, so that every id ever accepted can be kept.
type key [16]byte

// keyOf packs a UUID; anything else is packed by its hash.
func keyOf(id string) key {
	var k key
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		var digits [32]byte
		n := copy(digits[:], id[:8])
		n += copy(digits[n:], id[9:13])
		n += copy(digits[n:], id[14:18])
		n += copy(digits[n:], id[19:23])
		copy(digits[n:], id[24:])
		if _, err := hex.Decode(k[:], digits[:]); err == nil {
			return k
		}
	}
	sum := sha256.Sum256([]byte(id))
	copy(k[:], sum[:])
	return k
}

// derive makes the id of a message from its causes: the same decision always
// makes the same message.
func derive(kind string, cause string, numbers ...int) string {
	return protocol.DeriveID(causes(kind, cause, numbers)...)
}

func digest(kind string, cause string, numbers ...int) [32]byte {
	return sha256.Sum256([]byte(strings.Join(causes(kind, cause, numbers), "\x00")))
}

func causes(kind, cause string, numbers []int) []string {
	parts := []string{kind, cause}
	for _, n := range numbers {
		parts = append(parts, strconv.Itoa(n))
	}
	return parts
}

// delay is how long the attempt after the used-th waits. Jitter moves it by up
// to a tenth either way, so that agents which failed together do not come back
// together.
func (r Retry) delay(used int, delivery string, attempt int) time.Duration {
	d := float64(r.Initial)
	for range min(used-1, 64) {
		d *= r.Multiplier
	}
	d = min(d, float64(r.MaxDelay))
	if r.Jitter {
		sum := digest("jitter", delivery, attempt)
		share := float64(binary.BigEndian.Uint32(sum[:4])) / (1 << 32)
		d *= 0.9 + 0.2*share
	}
	return time.Duration(d)
}
