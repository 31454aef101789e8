package protocol

import "time"

// TaskState is where a task stands.
type TaskState string

// The task states.
const (
	TaskPending    TaskState = "pending"
	TaskInProgress TaskState = "in_progress"
	TaskCompleted  TaskState = "completed"
	TaskFailed     TaskState = "failed"
	TaskCancelled  TaskState = "cancelled"
	TaskNeedsHuman TaskState = "needs_human"
)

// Done says that nothing more will happen to the task by itself.
func (s TaskState) Done() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Task is a request and what became of it. Its id is the request's message id.
type Task struct {
	ID       string    `json:"id"`
	Seq      uint64    `json:"seq"` // the request's place in the stream
	Root     string    `json:"root"`
	Parent   string    `json:"parent,omitempty"`
	Session  string    `json:"session,omitempty"`
	From     string    `json:"from"`
	Agent    string    `json:"agent"`
	Text     string    `json:"text"` // shortened once the task is over
	State    TaskState `json:"state"`
	Reason   string    `json:"reason,omitempty"`
	Code     Code      `json:"code,omitempty"`
	Progress int       `json:"progress"`
	Turns    int       `json:"turns"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Result   string    `json:"result,omitempty"`
	Evidence string    `json:"evidence,omitempty"`
	// ResultSeq is the entry that ended the task; the stream has the result in
	// full where it is shortened here.
	ResultSeq uint64    `json:"result_seq,omitempty"`
	Children  []Task    `json:"children,omitempty"`
	Attempts  []Attempt `json:"attempts,omitempty"`
	// Tokens is what the agent took for it, TreeTokens with all its delegates;
	// absent where no program told.
	Tokens     *Tokens `json:"tokens,omitempty"`
	TreeTokens *Tokens `json:"tree_tokens,omitempty"`
}

// Attempt is one try at typing something into a pane for a task.
type Attempt struct {
	Messages []string `json:"messages"`
	Number   int      `json:"number"`
	Req      string   `json:"req"`
	Steps    []Mark   `json:"steps"`
}

// Mark is a step with its time.
type Mark struct {
	Step      StepName  `json:"step"`
	Time      time.Time `json:"time"`
	Seq       uint64    `json:"seq"`
	Evidence  string    `json:"evidence,omitempty"`
	Code      Code      `json:"code,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Text      string    `json:"text,omitempty"`
	Truncated bool      `json:"truncated,omitempty"`
}

// AgentStatus is what a person wants to know about an agent.
type AgentStatus struct {
	Name         string     `json:"name"`
	Role         Role       `json:"role"`
	Engine       string     `json:"engine"`
	State        AgentState `json:"state"`
	Task         string     `json:"task,omitempty"`
	Queue        int        `json:"queue"`
	Reason       string     `json:"reason,omitempty"`
	Pane         string     `json:"pane,omitempty"`
	PID          int        `json:"pid,omitempty"`
	Restarts     int        `json:"restarts,omitempty"`
	LastActivity time.Time  `json:"last_activity,omitzero"`
	Since        time.Time  `json:"since,omitzero"`         // of the state
	Drift        string     `json:"drift,omitempty"`        // what is not as its engine describes
	Until        time.Time  `json:"until,omitzero"`         // of limited: when it goes on by itself
	TokensToday  *Tokens    `json:"tokens_today,omitempty"` // since midnight UTC; absent where no program told
}

// The kinds of inbox items that the hub itself makes.
const (
	InboxNeedsHuman = "needs_human" // a task that nobody but a person can bring further
	InboxDialog     = "dialog"      // a pane in which a person has to do something
	InboxDegraded   = "degraded"    // an agent that is not what its engine describes
	InboxDead       = "dead"        // an agent whose program ends each time it is started
	InboxLimited    = "limited"     // an agent that waits for a quota or a rate limit to end
	InboxTokens     = "tokens"      // what has used its tokens, and goes on when a person says so
)

// InboxItem is something that waits for a person.
type InboxItem struct {
	ID     string    `json:"id"`   // the task, or the agent
	Kind   string    `json:"kind"` // needs_human, dialog, degraded, dead, limited, tokens
	Agent  string    `json:"agent"`
	Task   string    `json:"task,omitempty"`
	Text   string    `json:"text"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // of limited: when it is over by itself
	Screen string    `json:"screen,omitempty"`
	Dialog string    `json:"dialog,omitempty"` // by which the dialog on the screen is known
	Rule   string    `json:"rule,omitempty"`   // what is decided with --for task or --for agent
}

// Health is the state of the hub itself.
type Health struct {
	PID      int       `json:"pid"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Session  string    `json:"session"`
	Socket   string    `json:"socket"`   // the tmux server's name
	Events   bool      `json:"events"`   // the control-mode client is attached
	Problems []string  `json:"problems"` // each with its cure
	Seq      uint64    `json:"seq"`
	Journal  string    `json:"journal"`
}

// Overview is everything `status` shows.
type Overview struct {
	Agents []AgentStatus `json:"agents"`
	Tasks  []Task        `json:"tasks"`
	Inbox  []InboxItem   `json:"inbox"`
	Hub    Health        `json:"hub"`
}

// Metrics are the communication figures of the agent protocol, folded from
// the stream, so that they survive a restart.
type Metrics struct {
	MessagesSent     int            `json:"messages_sent"`
	MessagesReceived int            `json:"messages_received"`
	AvgLatencyMS     float64        `json:"avg_latency_ms"`
	ErrorRate        float64        `json:"error_rate"`
	RetryRate        float64        `json:"retry_rate"`
	TimeoutRate      float64        `json:"timeout_rate"`
	ByType           map[Type]int   `json:"by_type"`
	ByAgent          map[string]int `json:"by_agent"`
	Tokens           TokenStats     `json:"tokens"`
}
