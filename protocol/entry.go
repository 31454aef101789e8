package protocol

import "time"

// Kind says which of an entry's parts is filled.
type Kind string

// The kinds of entries.
const (
	KindMessage Kind = "message" // a message was accepted
	KindStep    Kind = "step"    // a delivery went one step further
	KindAgent   Kind = "agent"   // an agent's state changed
	KindHub     Kind = "hub"     // a hub took the stream, or let it go
	KindUsage   Kind = "usage"   // a model answered an agent, and took so many tokens
)

// Entry is one line of the stream. The stream is the truth of the house:
// everything shown or decided is a fold over its entries.
type Entry struct {
	Seq     uint64       `json:"seq"`  // given by the stream
	Time    time.Time    `json:"time"` // given by whoever appends
	Kind    Kind         `json:"kind"`
	Message *Accepted    `json:"message,omitempty"`
	Step    *Step        `json:"step,omitempty"`
	Agent   *AgentChange `json:"agent,omitempty"`
	Hub     *HubChange   `json:"hub,omitempty"`
	Usage   *Usage       `json:"usage,omitempty"`
}

// Root is the task that an entry belongs to, "" where it belongs to none.
func (e Entry) Root() string {
	switch {
	case e.Message != nil:
		return e.Message.Task
	case e.Step != nil:
		return e.Step.Task
	}
	return ""
}

// Accepted is a message together with its place in the work.
type Accepted struct {
	Message Message `json:"message"`
	Task    string  `json:"task,omitempty"`    // the root request's id
	Parent  string  `json:"parent,omitempty"`  // for a delegation: the request it was made for
	Session string  `json:"session,omitempty"` // the API session it belongs to
	// Collected says that the sender waits for the answer itself, as a
	// blocking send inside a pane does: the answer is not typed into its pane.
	Collected bool `json:"collected,omitempty"`
	// Typed is the attempt by which a program already works on a request that
	// a person typed into its pane.
	Typed string `json:"typed,omitempty"`
	// First makes the hub deliver a note before everything else that waits for
	// the agent, as it does with the brief of a program that has just started.
	First bool `json:"first,omitempty"`
	// Anew marks a brief for a session whose work comes next: the agent forgets
	// another session's before it, and its conversation is this one's from then.
	Anew bool `json:"anew,omitempty"`
	// Closing stands on the response or error that ends a request.
	Closing *Closing `json:"closing,omitempty"`
}

// Closing is how a request ended.
type Closing struct {
	Status     Status `json:"status"`
	LatencyMS  int64  `json:"latency_ms"`
	RetryCount int    `json:"retry_count"`
	Evidence   string `json:"evidence,omitempty"` // the witness that decided
	Truncated  bool   `json:"truncated,omitempty"`
	Code       Code   `json:"code,omitempty"`
	// Tokens is what the asked agent itself took, its delegates left out.
	Tokens *Tokens `json:"tokens,omitempty"`
}

// StepName is how far a delivery has come.
//
//	queued -> claimed -> typed -> submitted -> accepted -> answered
//	             |         |          |            |
//	             +---------+----------+------------+--> failed -> (claimed again | dead)
//	queued -> expired | cancelled
type StepName string

// The steps. Queued has no entry of its own: it is the message's acceptance.
const (
	Queued    StepName = "queued"
	Claimed   StepName = "claimed"   // a worker is about to type it; Req is fixed
	Typed     StepName = "typed"     // the paste went into the pane
	Submitted StepName = "submitted" // Enter was pressed and the composer let go
	Taken     StepName = "accepted"  // the agent has taken the prompt
	Answered  StepName = "answered"  // the turn is over
	Undone    StepName = "failed"    // the attempt is over without an answer
	Expired   StepName = "expired"   // its time to live passed while it was queued
	Dropped   StepName = "cancelled" // somebody cancelled it
	DeadEnd   StepName = "dead"      // no further attempt will be made
)

// Step is one step of one delivery. A delivery types one or more messages
// (a request, an event, or all results of a turn) into one pane as one prompt.
type Step struct {
	Name     StepName `json:"name"`
	Agent    string   `json:"agent"`
	Messages []string `json:"messages"`       // ids; the first names the delivery
	Task     string   `json:"task,omitempty"` // the root of the task it is for
	Attempt  int      `json:"attempt"`        // counts from 1
	Req      string   `json:"req,omitempty"`  // the attempt's id on the screen
	Epoch    string   `json:"epoch,omitempty"`
	Evidence string   `json:"evidence,omitempty"`
	Code     Code     `json:"code,omitempty"`   // on failed and dead
	Reason   string   `json:"reason,omitempty"` // for a person
	// Again says that another attempt cannot do the work twice.
	Again bool `json:"again,omitempty"`
	// Until is when a quota or a rate limit ends that ended the attempt, where
	// that is known.
	Until time.Time `json:"until,omitzero"`
	// Sources are the files that the turn has read.
	Sources []string `json:"sources,omitempty"`
	// Text is the partial answer of a failed attempt, or an answer that
	// delegated or belongs to an event: one that no message carries.
	Text      string `json:"text,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

// AgentState is the state of an agent at its pane.
type AgentState string

// The agent states.
const (
	Starting AgentState = "starting"
	Idle     AgentState = "idle"
	Busy     AgentState = "busy"
	Waiting  AgentState = "waiting_for_human"
	Degraded AgentState = "degraded"
	Dead     AgentState = "dead"
	Paused   AgentState = "paused"  // shown for an agent whose deliveries are held
	Limited  AgentState = "limited" // shown for one whose deliveries wait for a quota or a rate limit to end
)

// AgentChange says that an agent changed.
type AgentChange struct {
	Name     string     `json:"name"`
	State    AgentState `json:"state"`
	Reason   string     `json:"reason,omitempty"`
	Restarts int        `json:"restarts,omitempty"`
	PID      int        `json:"pid,omitempty"`
}

// ClockSetBack is the event by which a hub tells that the machine's clock was
// set back, and how far.
const ClockSetBack = "clock_set_back"

// HubChange says that a hub started or stopped on this stream, or that its
// clock did not go on as clocks do.
type HubChange struct {
	Event   string `json:"event"` // started, stopped, clock_set_back
	PID     int    `json:"pid"`
	Version string `json:"version,omitempty"`
	BackMS  int64  `json:"back_ms,omitempty"`
}
