package ledger

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orchestrator-cc/protocol"
)

// dice decides what happens next in a history.
type dice func(sides int) int

// history drives a ledger through random events with random crashes.
type history struct {
	*office
	roll   dice
	oracle *oracle
	ids    []string // of everything accepted so far
	tasks  []string

	steps, applied, crashes int
	// whole: a crash keeps batches whole, as the stream does; else it may
	// leave any part of one.
	whole bool
}

func newHistory(t testing.TB, roll dice) *history {
	r := company()
	r.Limits = Limits{Turns: 4, Depth: 5, OpenTasks: 6}
	if roll(2) == 0 {
		r.Limits.Tokens = TokenLimits{Task: 3000, Agent: 4000, Day: 20_000}
	}
	return &history{office: newOffice(t, r), roll: roll, oracle: newOracle(), whole: roll(2) == 0}
}

// store appends a batch, or the part of it that a crash leaves.
func (h *history) store(batch ...protocol.Entry) {
	if !h.whole && len(batch) > 1 && h.roll(8) == 0 {
		batch = batch[:h.roll(len(batch))]
		defer h.crash()
	}
	for _, e := range batch {
		e.Seq = uint64(len(h.entries)) + 1
		h.entries = append(h.entries, e)
		h.oracle.see(e, h.l)
		before := h.l.Anomalies()
		h.l.Apply(e)
		h.applied++
		if h.l.Anomalies() != before {
			h.oracle.complain("entry %d does not fit: %+v %+v", e.Seq, e.Step, e.Message)
		}
		if e.Message != nil {
			h.ids = append(h.ids, e.Message.Message.ID())
			if e.Message.Message.Header.Type == protocol.Request {
				h.tasks = append(h.tasks, e.Message.Message.ID())
			}
		}
	}
}

// crash drops the ledger and builds it again, from the stream alone or from a
// snapshot of some moment and the rest.
func (h *history) crash() {
	h.crashes++
	h.applied += len(h.entries)
	again := New(h.rules)
	from := 0
	if h.roll(2) == 0 && len(h.entries) > 0 {
		from = h.roll(len(h.entries))
		for _, e := range h.entries[:from] {
			again.Apply(e)
		}
		data := snapshot(h.t, again)
		again = New(h.rules)
		if err := again.Restore([]byte(data)); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, e := range h.entries[from:] {
		again.Apply(e)
	}
	live := h.l
	h.l = again
	if h.roll(4) > 0 {
		return // comparing costs more than all the rest
	}
	h.compare(live, again, from)
}

// compare holds that a ledger built again is the one that was lost.
func (h *history) compare(l, again *Ledger, from int) {
	live, replayed := snapshot(h.t, l), snapshot(h.t, again)
	if live != replayed {
		h.oracle.complain("replay from %d differs:\n%s", from, cmp.Diff(live, replayed))
	}
	if diff := cmp.Diff(l.Next(h.now), again.Next(h.now)); diff != "" {
		h.oracle.complain("plan after replay from %d differs:\n%s", from, diff)
	}
	if diff := cmp.Diff(l.Metrics(), again.Metrics()); diff != "" {
		h.oracle.complain("metrics after replay differ:\n%s", diff)
	}
}

func (h *history) step() {
	h.steps++
	switch h.roll(17) {
	case 16:
		h.spend()
	case 0, 1:
		h.submitRequest()
	case 2:
		h.submitEvent()
	case 3:
		h.submitOrder()
	case 4:
		h.now = h.now.Add(time.Duration(h.roll(3000)) * time.Millisecond)
	case 5:
		if h.roll(8) == 0 {
			h.crash()
		}
	case 6, 7, 8:
		h.clerk()
	case 9, 10, 11:
		h.claimSome()
	default:
		h.work()
	}
	if h.steps%8 == 0 {
		h.oracle.running(h.l)
	}
}

func (h *history) agents() []Agent { return h.rules.Agents }

func (h *history) submit(from, to string, p protocol.Payload) {
	a, err := h.offer(from, to, p, func(a *protocol.Accepted) {
		m := &a.Message
		if h.roll(3) == 0 {
			*m = m.WithPriority([]protocol.Priority{protocol.Low, protocol.High, protocol.Critical}[h.roll(3)])
		}
		if h.roll(10) == 0 {
			*m = m.WithTTL(time.Duration(1+h.roll(5)) * time.Second)
		}
		if h.roll(8) == 0 && len(h.ids) > 0 {
			*m = m.About(h.ids[h.roll(len(h.ids))])
		}
		a.Collected = h.roll(4) == 0
	})
	if err == nil {
		h.store(protocol.Entry{Time: h.now, Kind: protocol.KindMessage, Message: a})
	}
}

func (h *history) submitRequest() {
	from := user
	if h.roll(2) == 0 {
		from = h.agents()[h.roll(2)].Name
	}
	h.submit(from, h.agents()[h.roll(5)].Name, protocol.TaskRequest("do it"))
}

func (h *history) submitEvent() {
	to := h.agents()[h.roll(5)].Name
	if h.roll(3) == 0 {
		to = []string{protocol.All, "role:specialist"}[h.roll(2)]
	}
	h.submit([]string{user, boss, protocol.Hub}[h.roll(3)], to, protocol.Info("know it"))
}

func (h *history) submitOrder() {
	to := h.agents()[h.roll(5)].Name
	switch h.roll(6) {
	case 0:
		h.submit(user, to, &protocol.ControlPayload{Command: protocol.Pause})
	case 1, 2:
		h.submit(user, to, &protocol.ControlPayload{Command: protocol.Resume})
	case 3:
		h.submit(user, to, &protocol.ControlPayload{Command: protocol.Resume, Params: encode(orderParams{Tokens: TokensToday})})
	default:
		if len(h.tasks) > 0 {
			command := []protocol.Command{protocol.Cancel, protocol.Retry, protocol.Resume}[h.roll(3)]
			id := h.tasks[h.roll(len(h.tasks))]
			h.submit(user, to, &protocol.ControlPayload{Command: command, Params: encode(orderParams{Task: id, Text: "again"})})
		}
	}
}

// spend tells what models took, for a turn that runs, for one that is over or
// for a person, and sometimes again what was told before.
func (h *history) spend() {
	a := h.agents()[h.roll(5)].Name
	r := protocol.Report{Event: protocol.ReportUsage, Time: h.now.Add(-time.Duration(h.roll(48)) * time.Hour),
		Usage: &protocol.Usage{ID: fmt.Sprint("m", h.roll(200)), Model: "m", Tokens: protocol.Tokens{Input: int64(h.roll(900)), Output: int64(h.roll(90))}}}
	if running := h.l.UnderWay(); len(running) > 0 && h.roll(4) > 0 {
		d := running[h.roll(len(running))]
		a, r.Req = d.Agent, d.Req
	} else if len(h.entries) > 0 {
		r.Req = fmt.Sprint("r", h.roll(len(h.entries)))
	}
	h.store(h.l.Spend(a, []protocol.Report{r, r}, h.now)...)
}

// letGoOn lifts everything that holds somebody, as a person would.
func (h *history) letGoOn() {
	for _, a := range h.agents() {
		for range 2 {
			h.submit(user, a.Name, &protocol.ControlPayload{Command: protocol.Resume})
		}
	}
	for _, item := range h.l.spentInbox(h.now) {
		if item.Task != "" {
			h.submit(user, item.Agent, &protocol.ControlPayload{Command: protocol.Resume, Params: encode(orderParams{Task: item.Task})})
		}
	}
}

// clerk appends what is owed.
func (h *history) clerk() {
	for _, batch := range h.l.Next(h.now).Append {
		l := h.l
		if h.store(batch...); h.l != l {
			return // the rest of the plan died with its hub
		}
	}
}

func (h *history) claimSome() {
	for _, d := range h.l.Next(h.now).Deliver {
		if h.roll(2) == 0 {
			h.store(h.l.Claim(d, fmt.Sprintf("r%d", len(h.entries)), "", h.now))
		}
	}
}

// work lets one agent go on with its turn.
func (h *history) work() {
	running := h.l.UnderWay()
	if len(running) == 0 {
		return
	}
	d := running[h.roll(len(running))]
	switch h.roll(8) {
	case 0:
		code := []protocol.Code{protocol.CodeTimeout, protocol.CodeAgentDied, protocol.CodeNotAccepted}[h.roll(3)]
		h.store(h.l.Fail(d, Failure{Code: code, Reason: "it broke", Again: code != protocol.CodeTimeout}, h.now)...)
	case 1, 2, 3:
		steps := []protocol.StepName{protocol.Typed, protocol.Submitted, protocol.Taken}
		at := slices.Index(steps, d.Step) + 1
		if at < len(steps) {
			h.store(h.l.Mark(d, steps[at+h.roll(len(steps)-at)], "screen", h.now)...)
		}
	default:
		h.store(h.l.Settle(d, Answer{Text: h.words(), Evidence: "token"}, h.now)...)
	}
}

// words are an answer, sometimes with delegations good and bad.
func (h *history) words() string {
	lines := []string{"some words"}
	for range h.roll(3) {
		name := append([]string{"nobody"}, manager, coder, analyst, tester, boss)[h.roll(6)]
		lines = append(lines, "@"+name+": do this")
	}
	return strings.Join(lines, "\n")
}

// drain lets everybody work and finish, and nobody ask for more.
func (h *history) drain() {
	h.whole = true
	h.letGoOn()
	for range 20_000 {
		plan := h.l.Next(h.now)
		for _, batch := range plan.Append {
			h.store(batch...)
		}
		if len(plan.Append) > 0 {
			continue
		}
		for _, d := range plan.Deliver {
			h.store(h.l.Claim(d, fmt.Sprintf("r%d", len(h.entries)), "", h.now))
		}
		running := h.l.UnderWay()
		for _, d := range running {
			h.store(h.l.Settle(d, Answer{Text: "done"}, h.now)...)
		}
		if len(running) == 0 {
			if plan.Wake.IsZero() {
				return
			}
			h.now = plan.Wake
		}
	}
	h.oracle.complain("the house never comes to rest")
}

// check plays a history to its end and says what was wrong with it.
func (h *history) check(steps int) []string {
	for range steps {
		h.step()
	}
	h.drain()
	h.oracle.drained()
	for _, s := range h.l.order {
		if s.open != 0 || len(s.lanes) != 0 || len(s.notes) != 0 || s.current != nil {
			h.oracle.complain("%s is not at rest: %d open, %d lanes, %d notes, current %v", s.name, s.open, len(s.lanes), len(s.notes), s.current)
		}
	}
	if len(h.l.undelivered) != 0 || len(h.l.dueNodes) != 0 || len(h.l.dueNotes) != 0 {
		h.oracle.complain("left behind: %v, %d due, %d notes due", h.l.undelivered, len(h.l.dueNodes), len(h.l.dueNotes))
	}
	if got := h.l.Metrics().Tokens.Total; got != h.oracle.tokens {
		h.oracle.complain("got %+v tokens, want %+v", got, h.oracle.tokens)
	}
	again := New(h.rules)
	for _, e := range h.entries {
		again.Apply(e)
	}
	h.compare(h.l, again, 0)
	return h.oracle.problems
}

// TestRandomHistories plays histories until it has seen a million steps, or for
// a few seconds on a slow machine, and ORCHESTRATOR_CC_SOAK times as long where
// that is set.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	first, times := uint64(1), 1
	if n, err := strconv.Atoi(os.Getenv("ORCHESTRATOR_CC_SOAK")); err == nil && n > 0 {
		first, times = uint64(time.Now().UnixNano()), n
		t.Logf("first seed %d", first)
	}
	steps, applied, crashes := 0, 0, 0
	deadline := time.Now().Add(time.Duration(times) * 6 * time.Second)
	for seed := first; steps < 1_000_000*times && time.Now().Before(deadline); seed++ {
		rng := rand.New(rand.NewPCG(seed, 7))
		h := newHistory(t, rng.IntN)
		problems := h.check(50 + rng.IntN(400))
		if len(problems) > 0 {
			t.Fatalf("seed %d, %d entries: %s", seed, len(h.entries), strings.Join(problems[:min(5, len(problems))], "\n"))
		}
		steps += h.steps + len(h.entries)
		applied += h.applied
		crashes += h.crashes
	}
	if steps < 5_000 {
		t.Errorf("got %d steps in %d seconds, want far more", steps, 6*times)
	}
	t.Logf("%d steps, %d entries applied, %d crashes", steps, applied, crashes)
}

func TestRapidHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		h := newHistory(t, func(sides int) int { return rapid.IntRange(0, sides-1).Draw(r, "roll") })
		if problems := h.check(rapid.IntRange(1, 120).Draw(r, "steps")); len(problems) > 0 {
			r.Fatalf("%s", strings.Join(problems[:min(5, len(problems))], "\n"))
		}
	})
}
