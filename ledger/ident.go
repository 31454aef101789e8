package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
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

// derive makes the id of a message from its causes, in the form of a UUID of
// version 4: the same decision always makes the same message.
func derive(kind string, cause string, numbers ...int) string {
	sum := digest(kind, cause, numbers...)
	sum[6] = sum[6]&0x0f | 0x40
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func digest(kind string, cause string, numbers ...int) [32]byte {
	var b strings.Builder
	b.WriteString(kind)
	b.WriteByte(0)
	b.WriteString(cause)
	for _, n := range numbers {
		b.WriteByte(0)
		b.WriteString(strconv.Itoa(n))
	}
	return sha256.Sum256([]byte(b.String()))
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
