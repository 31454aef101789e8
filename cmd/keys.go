package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator-cc/api"
	"orchestrator-cc/protocol"
)

// newKeysCommand manages the keys of the HTTP interface. It works on the file,
// so it needs no hub; a living one sees each change at once.
func newKeysCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "keys",
		Short:   "Keys for programs that use the HTTP interface: add, list, revoke",
		GroupID: groupCare,
	}
	onlyVerbs(c)
	c.AddCommand(newKeysAdd(a), newKeysList(a), newKeysRevoke(a))
	return c
}

type keyOptions struct {
	name    string
	scopes  []string
	expires time.Duration
}

func newKeysAdd(a *app) *cobra.Command {
	var o keyOptions
	c := &cobra.Command{
		Use:     "add NAME",
		Short:   "Make a key and print it, once",
		Example: "  orchestrator-cc keys add ci --scope read --scope submit --expires 30d",
		Args:    takes(false),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return runKeysAdd(c.Context(), a, o)
		},
	}
	c.Flags().StringSliceVar(&o.scopes, "scope", nil, "what it may do: read, submit, approve, admin (repeat the flag)")
	c.Flags().Var((*lifetime)(&o.expires), "expires", "how long it is good for, as 30d or 12h (default: until it is revoked)")
	_ = c.RegisterFlagCompletionFunc("scope", completeScopes) // The flag is there.
	return c
}

// lifetime is a duration on the command line that may count in days.
type lifetime time.Duration

func (l *lifetime) String() string { return "" } // until it is revoked
func (l *lifetime) Type() string   { return "duration" }

// Set reads a duration and says how one is written.
func (l *lifetime) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*l = lifetime(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if _, number := strconv.ParseFloat(text, 64); err != nil && number == nil {
		return fmt.Errorf("write it with a unit, such as %sd for days or %sh for hours", text, text)
	}
	if err != nil {
		return errors.New("write a duration, such as 30d or 12h")
	}
	if d <= 0 {
		return errors.New("write a duration above 0; leave it out for a key that does not expire")
	}
	*l = lifetime(d)
	return nil
}

func completeScopes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, s := range api.Scopes() {
		names = append(names, string(s))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeKeys offers the names of the keys there are.
func (a *app) completeKeys(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if keys, err := a.keys(); err == nil && len(args) == 0 {
		all, _ := keys.List() // What cannot be read cannot be offered.
		for _, k := range all {
			names = append(names, k.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// runKeysAdd makes a key for a person. An agent that could make one for itself
// would answer its own questions with it.
func runKeysAdd(ctx context.Context, a *app, o keyOptions) error {
	if a.getenv(envSecret) != "" || a.startedInPane(ctx) {
		return protocol.Faultf(protocol.CodeForbidden, "keys are not made inside an agent's pane").Cure("make it from a terminal outside the panes")
	}
	keys, err := a.keys()
	if err != nil {
		return err
	}
	var scopes []api.Scope
	for _, s := range o.scopes {
		scopes = append(scopes, api.Scope(s))
	}
	key, err := keys.Add(o.name, scopes, o.expires)
	if err != nil {
		return err
	}
	a.out.printf("%s\n", key)
	a.err.printf("This is the only time it is shown. Use it as: Authorization: Bearer KEY, or in ORCHESTRATOR_CC_KEY\n")
	return nil
}

// startedInPane tells whether this process descends from an agent's pane, which
// only a living hub knows.
func (a *app) startedInPane(ctx context.Context) bool {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return false
	}
	hub, err := a.living(ctx, p)
	if err != nil || hub == nil {
		return false
	}
	defer hub.Close()
	overview, err := hub.Overview(ctx)
	return err == nil && api.DescendsFromPane(os.Getpid(), overview.Agents)
}

func newKeysList(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "The keys, without the keys themselves",
		Args:  takes(false),
		RunE:  func(*cobra.Command, []string) error { return runKeysList(a, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

// keyLine is a key as `keys list --json` prints it.
type keyLine struct {
	ID      string      `json:"id"`
	Name    string      `json:"name"`
	Scopes  []api.Scope `json:"scopes"`
	Created time.Time   `json:"created"`
	Expires time.Time   `json:"expires,omitzero"`
	Expired bool        `json:"expired"`
}

func runKeysList(a *app, asJSON bool) error {
	keys, err := a.keys()
	if err != nil {
		return err
	}
	all, err := keys.List()
	if err != nil {
		return err
	}
	lines := []keyLine{}
	rows := [][]string{}
	for _, k := range all {
		lines = append(lines, keyLine{ID: k.ID, Name: k.Name, Scopes: k.Scopes, Created: k.Created, Expires: k.Expires, Expired: k.Expired(a.now())})
		var scopes []string
		for _, s := range k.Scopes {
			scopes = append(scopes, string(s))
		}
		until := "revoked"
		switch {
		case k.Expired(a.now()):
			until = "expired " + k.Expires.Format(time.RFC3339)
		case !k.Expires.IsZero():
			until = k.Expires.Format(time.RFC3339)
		}
		rows = append(rows, []string{k.Name, k.ID, strings.Join(scopes, " "), k.Created.Format(time.RFC3339), until})
	}
	if asJSON {
		return a.out.json(map[string]any{"keys": lines})
	}
	if len(rows) == 0 {
		a.out.printf("there are no keys; make one with: orchestrator-cc keys add NAME --scope read --scope submit\n")
		return nil
	}
	a.out.printf("%s", a.out.table([]string{"NAME", "ID", "SCOPES", "MADE", "GOOD UNTIL"}, rows))
	return nil
}

func newKeysRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "revoke NAME",
		Short:             "Take a key back; from now on it is refused",
		Example:           "  orchestrator-cc keys revoke ci",
		Args:              takes(false),
		ValidArgsFunction: a.completeKeys,
		RunE: func(_ *cobra.Command, args []string) error {
			keys, err := a.keys()
			if err != nil {
				return err
			}
			if err := keys.Revoke(args[0]); err != nil {
				return err
			}
			a.out.printf("revoked %s\n", args[0])
			return nil
		},
	}
}

// keys is the file of keys of the project here, whose state folder is made
// where it is missing.
func (a *app) keys() (*api.Keys, error) {
	if err := a.here("keys are kept on the hub's own machine"); err != nil {
		return nil, err
	}
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return nil, err
	}
	if err := p.makeState(); err != nil {
		return nil, err
	}
	return api.NewKeys(p.keys()), nil
}
