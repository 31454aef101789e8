package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// TimeFormat writes times as RFC 3339 with microseconds, always in UTC.
const TimeFormat = "2006-01-02T15:04:05.000000Z07:00"

// Message is one hop: the envelope of the agent protocol.
type Message struct {
	Header   Header    `json:"header"`
	Payload  Payload   `json:"payload"`
	Metadata *Metadata `json:"metadata,omitempty"`
}

// Header says who speaks to whom, and about what.
type Header struct {
	MessageID     string     `json:"message_id"`
	Timestamp     string     `json:"timestamp,omitempty"`
	Version       string     `json:"version,omitempty"`
	From          Identifier `json:"from"`
	To            Identifier `json:"to"`
	Type          Type       `json:"type"`
	CorrelationID string     `json:"correlation_id,omitempty"`
}

// Metadata is how urgent a message is and how long it is worth delivering.
type Metadata struct {
	Priority   Priority `json:"priority,omitempty"`
	TTLSeconds *float64 `json:"ttl_seconds,omitempty"`
	RetryCount *int     `json:"retry_count,omitempty"`
}

// UnmarshalJSON reads the header first, because its type says what the
// payload is. Fields that the protocol does not know are refused.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Header   *Header         `json:"header"`
		Payload  json.RawMessage `json:"payload"`
		Metadata *Metadata       `json:"metadata"`
	}
	if err := strict(data, &raw); err != nil {
		return Invalid(faultyPart(data), "%v", err)
	}
	if raw.Header == nil {
		return Invalid("header", "is missing")
	}
	payload, err := decodePayload(raw.Header.Type, raw.Payload)
	if err != nil {
		return err
	}
	*m = Message{Header: *raw.Header, Payload: payload, Metadata: raw.Metadata}
	return nil
}

// faultyPart finds which part of a message cannot be read.
func faultyPart(data []byte) string {
	var raw struct {
		Header   json.RawMessage `json:"header"`
		Payload  json.RawMessage `json:"payload"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if strict(data, &raw) != nil {
		return "message"
	}
	if len(raw.Header) > 0 && strict(raw.Header, &Header{}) != nil {
		return "header"
	}
	return "metadata"
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// ID is short for the header's message id.
func (m Message) ID() string { return m.Header.MessageID }

// From is the sender's name.
func (m Message) From() string { return m.Header.From.AgentID }

// To is the recipient's name.
func (m Message) To() string { return m.Header.To.AgentID }

// Priority is the message's priority, normal when it names none.
func (m Message) Priority() Priority {
	if m.Metadata == nil || m.Metadata.Priority == "" {
		return Normal
	}
	return m.Metadata.Priority
}

// Expires is the moment after which the message is no longer delivered; the
// zero time means never. A TTL counts from the moment of acceptance, so that a
// sender's wrong clock cannot kill its own message.
func (m Message) Expires(accepted time.Time) time.Time {
	if m.Metadata == nil || m.Metadata.TTLSeconds == nil {
		return time.Time{}
	}
	return accepted.Add(time.Duration(*m.Metadata.TTLSeconds * float64(time.Second)))
}

// NewID makes a message id.
func NewID() string { return uuid.NewString() }

// DeriveID makes a message id from what the message is about: the same parts
// always make the same id, so what is decided twice is accepted once.
func DeriveID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// Stamp fills what the sender left out: id, timestamp, version. What is there
// already is left for Validate to judge.
func (m *Message) Stamp(now time.Time) {
	h := &m.Header
	if h.MessageID == "" {
		h.MessageID = NewID()
	}
	if h.Timestamp == "" {
		h.Timestamp = now.UTC().Format(TimeFormat)
	}
	if h.Version == "" {
		h.Version = Version
	}
}

// New makes an unstamped message; Stamp or the hub fills the rest.
func New(from, to Identifier, p Payload) Message {
	return Message{Header: Header{From: from, To: to, Type: p.payloadType()}, Payload: p}
}

// WithPriority returns the message with another priority.
func (m Message) WithPriority(p Priority) Message {
	meta := Metadata{}
	if m.Metadata != nil {
		meta = *m.Metadata
	}
	meta.Priority = p
	m.Metadata = &meta
	return m
}

// WithTTL returns the message with a time to live.
func (m Message) WithTTL(d time.Duration) Message {
	meta := Metadata{}
	if m.Metadata != nil {
		meta = *m.Metadata
	}
	seconds := d.Seconds()
	meta.TTLSeconds = &seconds
	m.Metadata = &meta
	return m
}

// About returns the message with the id of the message it refers to.
func (m Message) About(id string) Message {
	m.Header.CorrelationID = id
	return m
}

// String names the message in diaries and errors, without its content.
func (m Message) String() string {
	return fmt.Sprintf("%s %s from %s to %s", m.Header.Type, m.ID(), m.From(), m.To())
}
