package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

type sendOptions struct {
	to, text string
	async    bool
	json     bool
	priority string
	timeout  time.Duration
	kind     string
	from     string
}

// The kinds of sending: work to be answered, or news to be noted.
const (
	kindTask = "task"
	kindInfo = "info"
)

func newSendCommand(a *app) *cobra.Command {
	var o sendOptions
	c := &cobra.Command{
		Use:   "send AGENT TEXT|-",
		Short: "Give an agent a task and print its answer",
		Example: `  orchestrator-cc send grand_boss "find out why the tests are slow"
  git diff | orchestrator-cc send testing_specialist -
  orchestrator-cc send --type info all "the deadline is Friday"`,
		GroupID:           groupWork,
		Args:              takes(true),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			o.to, o.text = args[0], phrase(args[1:])
			return runSend(c.Context(), a, o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.async, "async", false, "print the task's id and do not wait")
	f.BoolVar(&o.json, "json", false, "print the answer with its evidence, for programs")
	f.StringVar(&o.priority, "priority", string(protocol.Normal), "low, normal, high or critical")
	f.Var((*patience)(&o.timeout), "timeout", "how long the answering pane may be silent, as 90s or 5m (default: as configured)")
	f.StringVar(&o.kind, "type", kindTask, "task, or info: told, not waited for")
	f.StringVar(&o.from, "from", "", "the sender; may only be yourself")
	return c
}

func runSend(ctx context.Context, a *app, o sendOptions) error {
	text, err := a.words(o.text)
	if err != nil {
		return err
	}
	m, err := o.message(text)
	if err != nil {
		return err
	}
	return a.withHub(ctx, func(hub *link) error {
		waits := !o.async && o.kind == kindTask
		receipt, err := hub.Post(ctx, m, waits)
		if err != nil && ctx.Err() != nil {
			return stoppedWaiting(m.ID()) // It may have been accepted all the same.
		}
		if err != nil {
			return hub.advise(ctx, err, o.to)
		}
		if !waits {
			return a.acknowledge(receipt, o.json)
		}
		result, err := a.await(ctx, hub, receipt)
		if err != nil {
			return err
		}
		return a.deliver(result, o.json)
	})
}

// message checks the options and makes the message.
func (o sendOptions) message(text string) (protocol.Message, error) {
	if protocol.Priority(o.priority).Weight() < 0 {
		return protocol.Message{}, usagef("--priority is %q; use low, normal, high or critical", o.priority)
	}
	if o.timeout < 0 {
		return protocol.Message{}, usagef("--timeout is %s; it must be above 0", o.timeout)
	}
	if o.kind == kindTask && (o.to == protocol.All || strings.HasPrefix(o.to, protocol.RolePrefix)) {
		return protocol.Message{}, withHint(usagef("a task goes to one agent, not to %s", o.to), "to tell everybody something: orchestrator-cc send %s TEXT --type info", o.to)
	}
	var payload protocol.Payload
	switch o.kind {
	case kindTask:
		request := protocol.TaskRequest(text)
		if o.timeout > 0 {
			ms := max(o.timeout.Milliseconds(), 1)
			request.TimeoutMS = &ms
		}
		payload = request
	case kindInfo:
		payload = protocol.Info(text)
	default:
		return protocol.Message{}, usagef("--type is %q; use task or info", o.kind)
	}
	from, to := protocol.Identifier{AgentID: o.from}, protocol.Identifier{AgentID: o.to}
	m := protocol.New(from, to, payload).WithPriority(protocol.Priority(o.priority))
	m.Header.MessageID = protocol.NewID()
	return m, nil
}

// patience is a duration on the command line.
type patience time.Duration

func (p *patience) String() string { return "" } // as configured
func (p *patience) Type() string   { return "duration" }

// Set reads a duration and says how one is written.
func (p *patience) Set(text string) error {
	d, err := time.ParseDuration(text)
	if _, number := strconv.ParseFloat(text, 64); err != nil && number == nil {
		return fmt.Errorf("write it with a unit, such as %ss", text)
	}
	if err != nil {
		return errors.New("write a duration, such as 90s or 5m")
	}
	*p = patience(d)
	return nil
}

// advise adds to a refusal to whom the message could go.
func (l *link) advise(ctx context.Context, err error, to string) error {
	overview, failed := l.Overview(ctx)
	if to == protocol.User && protocol.CodeOf(err) == protocol.CodeForbidden && failed == nil && len(overview.Agents) > 0 {
		return withHint(err, "send it to an agent, as: orchestrator-cc send %s TEXT; the agents are %s", overview.Agents[0].Name, strings.Join(agentNames(overview), ", "))
	}
	return l.suggestAgent(ctx, err, to)
}

// maxWords is more than any engine takes; the hub names the exact limit.
const maxWords = protocol.MaxPayload

// words is a text from the command line, or from stdin for "-".
func (a *app) words(arg string) (string, error) {
	text := arg
	if arg == "-" {
		data, err := io.ReadAll(io.LimitReader(a.in, maxWords+1))
		if err != nil {
			return "", fmt.Errorf("read the text from stdin: %w", err)
		}
		text = strings.TrimRight(string(data), "\r\n")
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", usagef("the text is empty; say what is to be done")
	case !utf8.ValidString(text):
		return "", usagef("the text is not valid UTF-8; convert it first, as with: iconv -t UTF-8")
	case len(text) > maxWords:
		return "", withHint(usagef("the text has more than %d bytes", maxWords), "put it into a file and name the file in a short text")
	}
	return text, nil
}

// acknowledge prints what to ask for later.
func (a *app) acknowledge(r api.Receipt, asJSON bool) error {
	if asJSON {
		return a.out.json(map[string]any{"task_id": r.TaskID, "message_id": r.MessageID, "seq": r.Seq})
	}
	a.out.printf("%s\n", r.MessageID)
	return nil
}

// sendResult is what `send --json` prints. Fields are added, never renamed.
type sendResult struct {
	TaskID     string          `json:"task_id"`
	MessageID  string          `json:"message_id"`
	From       string          `json:"from"`
	Content    string          `json:"content"`
	Status     string          `json:"status"`
	Evidence   string          `json:"evidence"`
	Truncated  bool            `json:"truncated"`
	LatencyMS  int64           `json:"latency_ms"`
	RetryCount int             `json:"retry_count"`
	Error      *protocol.Fault `json:"error,omitempty"`
}

// await follows the task until it is closed or waits for a person.
func (a *app) await(ctx context.Context, hub *link, r api.Receipt) (sendResult, error) {
	watching, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	show := newProgress(a.err, a.now, func(asking context.Context) string {
		why, err := hub.whyWaiting(asking, r.MessageID)
		if err != nil {
			cancel(err)
		}
		return why
	})
	defer show.end()
	for e, err := range show.during(watching, hub.WatchWriting(watching, r.MessageID, r.Seq, show.part)) {
		if ctx.Err() != nil {
			return sendResult{}, stoppedWaiting(r.MessageID)
		}
		if err != nil {
			return sendResult{}, lostSight(watching, err, r.MessageID)
		}
		show.entry(e)
		if !mayClose(e, r.MessageID) {
			continue
		}
		// The entry does not come twice, so a hub that dies now is asked again.
		var t protocol.Task
		err = hub.Patiently(ctx, func() (err error) {
			t, err = hub.Task(ctx, r.MessageID)
			return err
		})
		if err != nil && ctx.Err() == nil {
			return sendResult{}, lostSight(watching, err, r.MessageID)
		}
		if t.State.Done() || t.State == protocol.TaskNeedsHuman {
			return resultOf(t, e.Message, r), nil
		}
	}
	return sendResult{}, stoppedWaiting(r.MessageID)
}

// lostSight words why a task cannot be followed any more. What a person can
// type depends on whether there is still a hub.
func lostSight(watching context.Context, err error, id string) error {
	if cause := context.Cause(watching); errors.Is(cause, errShutDown) {
		return cause
	}
	if errors.Is(err, api.ErrUnreachable) {
		return withHint(fmt.Errorf("%w any more; the task is safe", errNoHub), "start it again with: orchestrator-cc up; then look at it with: orchestrator-cc show %s", short(id))
	}
	return withHint(fmt.Errorf("wait for the answer: %w", err), "the task is safe; look at it with: orchestrator-cc show %s", short(id))
}

func stoppedWaiting(id string) error {
	return withHint(errors.New("stopped waiting; the task goes on"), "follow it with: orchestrator-cc show %s; end it with: orchestrator-cc cancel %s", short(id), short(id))
}

// mayClose tells whether the task may be over after this entry: its closing
// message, or a step that ends a delivery of it.
func mayClose(e protocol.Entry, id string) bool {
	if m := e.Message; m != nil {
		return m.Closing != nil && m.Message.Header.CorrelationID == id
	}
	if s := e.Step; s != nil && slices.Contains(s.Messages, id) {
		return s.Name == protocol.Undone || s.Name == protocol.Expired || s.Name == protocol.Dropped || s.Name == protocol.DeadEnd
	}
	return false
}

// resultOf puts together what the task says and what its closing message, if
// there is one, says about how it was won.
func resultOf(t protocol.Task, closing *protocol.Accepted, r api.Receipt) sendResult {
	result := sendResult{
		TaskID: r.TaskID, MessageID: r.MessageID, From: t.Agent, Content: t.Result,
		Status: string(t.State), Evidence: t.Evidence, LatencyMS: t.Updated.Sub(t.Created).Milliseconds(),
	}
	if result.TaskID == "" {
		result.TaskID = t.Root
	}
	if closing != nil {
		result.Evidence, result.Truncated = closing.Closing.Evidence, closing.Closing.Truncated
		result.LatencyMS, result.RetryCount = closing.Closing.LatencyMS, closing.Closing.RetryCount
		if t.State == protocol.TaskCompleted {
			result.Content = closing.Message.Text()
		}
	}
	if t.State != protocol.TaskCompleted {
		result.Content, result.Truncated = partial(t)
		result.Error = failure(t)
	}
	return result
}

// partial is the last thing an agent said before an attempt failed.
func partial(t protocol.Task) (text string, truncated bool) {
	for _, attempt := range t.Attempts {
		for _, mark := range attempt.Steps {
			if mark.Step == protocol.Undone && mark.Text != "" {
				text, truncated = mark.Text, mark.Truncated
			}
		}
	}
	return text, truncated
}

// failure words why a task has no answer, and what a person can do.
func failure(t protocol.Task) *protocol.Fault {
	id := short(t.ID)
	fault := &protocol.Fault{Code: t.Code, Message: t.Agent + ": " + t.Reason}
	if t.Reason == "" {
		fault.Message = fmt.Sprintf("%s: the task is %s", t.Agent, t.State)
	}
	if fault.Code == "" {
		fault.Code = protocol.CodeAgentFailed
	}
	if t.State == protocol.TaskNeedsHuman {
		return fault.Cure("it waits for you: orchestrator-cc retry %s, answer %s TEXT, or cancel %s; details: show %s", id, id, id, id)
	}
	return fault.Cure("details: orchestrator-cc show %s; another try: orchestrator-cc retry %s", id, id)
}

// deliver prints the answer, or what there is of it, and why there is no more.
func (a *app) deliver(r sendResult, asJSON bool) error {
	if asJSON {
		if err := a.out.json(r); err != nil {
			return err
		}
	}
	if r.Error != nil {
		if !asJSON && r.Content != "" {
			a.err.printf("%s\n%s\n", a.err.paint(yellow, "partial answer:"), harmless(r.Content))
		}
		return r.Error
	}
	if !asJSON {
		a.out.printf("%s\n", a.out.safe(r.Content))
	}
	if r.Truncated {
		a.err.printf("%s tmux no longer had all of the answer; its beginning is missing\n", a.err.paint(yellow, "warning:"))
	}
	return nil
}
