package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/investigate"
	"orchestrator-cc/mcpserver"
	"orchestrator-cc/protocol"
)

// newMCPCommand is what an agent program starts beside itself.
func newMCPCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Offer the company to an agent program, by MCP on stdin and stdout",
		Long: `Speaks the Model Context Protocol on stdin and stdout, for programs that start
their tools themselves. In an agent's pane it speaks as that agent, elsewhere as
you. Give a program this configuration:

  {"mcpServers": {"orchestrator-cc": {"command": "orchestrator-cc", "args": ["mcp"]}}}`,
		Example: "  orchestrator-cc mcp",
		GroupID: groupWork,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runMCP(c.Context(), a) },
	}
}

// runMCP serves until the program hangs up. It needs no hub to begin: each call
// looks for it anew, so a hub that comes later, or comes back, is found.
func runMCP(ctx context.Context, a *app) error {
	desk := &mcpDesk{reach: a.connect}
	agent := a.getenv(envAgent)
	if a.getenv(envURL) != "" || a.getenv(envSecret) == "" {
		agent = "" // A key, or nothing, speaks for the user.
	}
	server := mcpserver.New(mcpserver.Options{
		Version: version(), Agent: agent, Schemas: mcpserver.NewSchemas(),
		Company: desk, Journal: desk, Investigator: &mcpLookout{root: a.codeFolder()},
	})
	if err := server.Run(ctx, io.NopCloser(a.in), unclosed{a.out.w}); err != nil {
		return fmt.Errorf("speak with the agent program: %w", err)
	}
	return nil
}

// unclosed is an output that belongs to somebody else.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// codeFolder is the project's code: what the configuration says, or the folder
// of the project, or this one.
func (a *app) codeFolder() string {
	p, found, err := findPlace(a.dir, a.getenv)
	if err != nil || !found || a.getenv(envURL) != "" {
		return a.dir
	}
	card, _, _ := p.readHubCard() // Without a card there is the project's own file.
	cfg, err := loadConfig(p, card.Config, "", card.Auto)
	if err != nil {
		return p.root
	}
	return cfg.Cluster.WorkDir
}

// mcpHandler answers /mcp: one server for each request, in its caller's name.
func mcpHandler(root string) func(api.Guest) http.Handler {
	schemas := mcpserver.NewSchemas()
	return func(g api.Guest) http.Handler {
		desk := &mcpDesk{reach: func(context.Context) (*link, error) { return &link{Client: g.Client}, nil }}
		lookout := &mcpLookout{root: root}
		if !g.Submits {
			lookout.barred = protocol.Faultf(protocol.CodeForbidden, "this key may look at its own sessions, not at the code").
				Cure("orchestrator-cc keys add NAME --scope read --scope submit")
		}
		return mcpserver.New(mcpserver.Options{
			Version: version(), Agent: g.Agent, Schemas: schemas, Company: desk, Journal: desk, Investigator: lookout,
		})
	}
}

// mcpDesk hands the tools' wishes to the hub.
type mcpDesk struct {
	reach func(context.Context) (*link, error)
}

// with asks a living hub, and words what goes wrong for a program.
func (d *mcpDesk) with(ctx context.Context, ask func(*link) error) error {
	hub, err := d.reach(ctx)
	if err == nil {
		defer hub.Close()
		err = ask(hub)
	}
	return asFault(err)
}

// asFault gives an error that is none of the protocol's a code and its hint.
func asFault(err error) error {
	var fault *protocol.Fault
	if err == nil || errors.As(err, &fault) {
		return err
	}
	code := protocol.CodeInternal
	if errors.Is(err, errNoHub) || errors.Is(err, api.ErrUnreachable) {
		code = protocol.CodeNoHub
	}
	text, hint := explain(err, "orchestrator-cc mcp")
	return &protocol.Fault{Code: code, Message: text, Hint: hint}
}

func (d *mcpDesk) Post(ctx context.Context, m protocol.Message, collect bool) (mcpserver.Receipt, error) {
	var r api.Receipt
	err := d.with(ctx, func(hub *link) (err error) {
		r, err = hub.Post(ctx, m, collect)
		return err
	})
	return mcpserver.Receipt{MessageID: r.MessageID, Seq: r.Seq}, err
}

func (d *mcpDesk) Task(ctx context.Context, id string) (t protocol.Task, err error) {
	return t, d.with(ctx, func(hub *link) error {
		// The entry that closes a task does not come twice, so a hub that dies
		// just then is asked again.
		return hub.Patiently(ctx, func() (err error) {
			t, err = hub.Task(ctx, id)
			return err
		})
	})
}

func (d *mcpDesk) Overview(ctx context.Context) (o protocol.Overview, err error) {
	return o, d.with(ctx, func(hub *link) (err error) {
		o, err = hub.Overview(ctx)
		return err
	})
}

func (d *mcpDesk) Watch(ctx context.Context, task string, after uint64) iter.Seq2[protocol.Entry, error] {
	return func(yield func(protocol.Entry, error) bool) {
		hub, err := d.reach(ctx)
		if err != nil {
			yield(protocol.Entry{}, asFault(err))
			return
		}
		defer hub.Close()
		for e, err := range hub.Watch(ctx, task, after) {
			if !yield(e, asFault(err)) {
				return
			}
		}
	}
}

func (d *mcpDesk) Journal(ctx context.Context, lines int) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := d.with(ctx, func(hub *link) error {
		found, err := hub.Journal(ctx, lines)
		if err != nil {
			return err
		}
		out = nil
		for _, l := range found {
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if err := e.Encode(l); err != nil {
				return fmt.Errorf("encode the journal's line %d: %w", l.Seq, err)
			}
			out = append(out, json.RawMessage(strings.TrimSuffix(b.String(), "\n")))
		}
		return nil
	})
	return out, err
}

// mcpLookout looks into the project's code, unless that is barred.
type mcpLookout struct {
	root   string
	barred error
}

func (l *mcpLookout) Investigate(ctx context.Context, name string, args json.RawMessage) (string, error) {
	if l.barred != nil {
		return "", l.barred
	}
	command, err := investigate.ParseCommand(name + " " + string(args))
	if err != nil {
		return "", protocol.Invalid("", "%v", err)
	}
	root, err := investigate.Open(ctx, l.root)
	if err != nil {
		return "", err
	}
	found, err := root.Run(ctx, command, investigate.Limits{})
	if err != nil {
		return "", protocol.Invalid("", "%v", err)
	}
	var asked struct {
		Targets []string `json:"targets"`
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return "", protocol.Invalid("", "%v", err)
	}
	text := outcomeText(found, strings.Join(asked.Targets, " "))
	if d := found.Digest; d != nil {
		text += fmt.Sprintf("%d of %d shown; the rest by: %s\n", d.Shown, d.Total, d.More)
	}
	return text + found.Summary() + "\n", nil
}
