package cmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// app is what every verb has: how to speak, where it was typed, and when.
type app struct {
	ui
	getenv  func(string) string
	environ func() []string
	dir     string
	now     func() time.Time
	exec    func(path string, argv, env []string) error // replaces this process
}

// hubBack is how long a verb waits for a hub whose card is there but which
// does not answer: tmux brings a dead hub back within two seconds.
const hubBack = 2 * time.Second

// recentDiary is how much of the diary's end tells why a hub is away.
const recentDiary = 16 << 10

func newApp() (*app, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	return &app{ui: *newUI(os.Getenv), getenv: os.Getenv, environ: os.Environ, dir: dir, now: time.Now, exec: syscall.Exec}, nil
}

// link is a living hub and the card by which it was found.
type link struct {
	*api.Client
	place place
	card  hubCard
}

// connect finds the project's hub and makes sure that it answers.
func (a *app) connect(ctx context.Context) (*link, error) {
	if a.getenv(envURL) != "" {
		return a.connectFar(ctx)
	}
	p, found, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return nil, err
	}
	card, there, err := p.readHubCard()
	if err != nil {
		return nil, err
	}
	if !found || !there {
		return nil, withHint(fmt.Errorf("%w: no %s in %s or above", errNoHub, stateFolder+"/hub.json", p.root), "start one with: orchestrator-cc up")
	}
	client := api.NewClient(card.Socket, a.getenv(envSecret))
	if err := client.Await(ctx, hubBack); err != nil {
		client.Close()
		if errors.Is(err, api.ErrUnreachable) {
			err = fmt.Errorf("%w: the one of %s does not answer", errNoHub, p.root)
			if words := lastWords(p, max(0, diaryEnd(p)-recentDiary), card.Started); len(words) > 0 {
				err = fmt.Errorf("%w; it ended with: %s", err, words[len(words)-1])
			}
			return nil, withHint(err, "start it again with: orchestrator-cc up")
		}
		return nil, err
	}
	return &link{Client: client, place: p, card: card}, nil
}

// connectFar reaches the hub that the environment names. The pane of an agent
// has its own hub's secret beside it, which is none of the other's business.
func (a *app) connectFar(ctx context.Context) (*link, error) {
	key := a.getenv(envKey)
	if file := a.getenv(envKeyFile); key == "" && file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the key: %w", err)
		}
		key = string(data)
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, withHint(usagef("%s is set, but neither %s nor %s", envURL, envKey, envKeyFile), "make a key there with: orchestrator-cc keys add NAME --scope read --scope submit")
	}
	client, err := api.NewRemote(a.getenv(envURL), key, a.getenv(envFingerprint))
	if err != nil {
		return nil, usagef("%w", err)
	}
	client.In(a.getenv(envSession))
	if err := client.Await(ctx, hubBack); err != nil {
		client.Close()
		var untrusted *tls.CertificateVerificationError
		if errors.As(err, &untrusted) {
			return nil, withHint(fmt.Errorf("the hub at %s is not known here: %w", a.getenv(envURL), untrusted.Err),
				"where its certificate is self-made, set %s to the SHA-256 that up prints there, or SSL_CERT_FILE to a copy of it", envFingerprint)
		}
		if errors.Is(err, api.ErrUnreachable) {
			err = withHint(fmt.Errorf("%w: %w", errNoHub, err), "check %s", envURL)
		}
		return nil, err
	}
	return &link{Client: client}, nil
}

// here refuses a verb that works on this machine while the environment names a
// hub elsewhere, which is likely what was meant.
func (a *app) here(what string) error {
	if a.getenv(envURL) == "" {
		return nil
	}
	return withHint(usagef("%s, and %s names one elsewhere", what, envURL), "type it there, or unset %s for the project here", envURL)
}

// withHub runs a verb's work with a living hub.
func (a *app) withHub(ctx context.Context, work func(*link) error) error {
	hub, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer hub.Close()
	return work(hub)
}

// suggestAgent adds the nearest name to an error about an agent that is not there.
func (l *link) suggestAgent(ctx context.Context, err error, typed string) error {
	if protocol.CodeOf(err) != protocol.CodeUnknownAgent || err == nil {
		return err
	}
	overview, failed := l.Overview(ctx)
	if failed != nil {
		return err
	}
	return unknownAgent(typed, agentNames(overview))
}

func agentNames(o protocol.Overview) []string {
	names := make([]string, len(o.Agents))
	for i, a := range o.Agents {
		names[i] = a.Name
	}
	return names
}

// unknownAgent refuses a name, with the nearest one that there is.
func unknownAgent(typed string, names []string) error {
	fault := protocol.Faultf(protocol.CodeUnknownAgent, "there is no agent %q", typed)
	if near := protocol.Nearest(typed, names); near != "" {
		return fault.Cure("did you mean %s? The agents are %s", near, strings.Join(names, ", "))
	}
	return fault.Cure("the agents are %s", strings.Join(names, ", "))
}
