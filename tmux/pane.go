package tmux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Pane is one pane at one epoch. A Pane of an epoch that has passed is still safe to use: it is refused.
type Pane struct {
	s      *Server
	info   PaneInfo
	still  string               // what must hold besides the guard: the pane is as somebody saw it; "" = anything
	output func() chan struct{} // subscribes at the first call
}

// Pane gives access to a pane as it was when info was read.
func (s *Server) Pane(info PaneInfo) *Pane {
	subscribe := func() chan struct{} { return s.events.subscribe(info.ID, info.Epoch) }
	return &Pane{s: s, info: info, output: sync.OnceValue(subscribe)}
}

// Output wakes its reader when the pane printed something; notices while nobody reads are merged into one. It stays
// silent while the control client is away, so a reader also looks by itself from time to time.
func (p *Pane) Output() <-chan struct{} { return p.output() }

// bufferPrefix begins the names of our paste buffers and of the files they come from.
const bufferPrefix = "orch-"

// bufferBase begins those of this driver.
func (s *Server) bufferBase() string { return bufferPrefix + s.o.Project + "-" + s.tag + "-" }

// guard is true inside the server when the pane still is what the caller takes it for and listens. Pasting into a dead
// pane would crash tmux 3.3a, and a check made out here could be too old by the time the text arrives.
func (p *Pane) guard() string {
	return all(
		"#{==:#{pane_dead},0}",
		"#{==:#{pane_input_off},0}",
		"#{==:#{@orch_epoch},"+p.info.Epoch+"}",
		"#{==:#{@orchestrator_agent},"+p.info.Name+"}")
}

// While is the pane as long as it is as on a screen that was read: the same cursor, the same mode, and no key of a
// person since. Whatever is typed otherwise is refused with ErrMoved, inside the server, so that nobody's own words are
// met by ours a moment after they were begun.
func (p *Pane) While(s Screen) *Pane {
	mode := "0"
	if s.CopyMode {
		mode = "1"
	}
	same := *p
	same.still = all(
		fmt.Sprintf("#{==:#{cursor_x},%d}", s.CursorX), fmt.Sprintf("#{==:#{cursor_y},%d}", s.CursorY),
		"#{==:#{pane_in_mode},"+mode+"}", fmt.Sprintf("#{==:%s,%d}", touched, s.Touched))
	return &same
}

// all joins conditions to one.
func all(conditions ...string) string {
	joined := conditions[0]
	for _, c := range conditions[1:] {
		joined = "#{&&:" + joined + "," + c + "}"
	}
	return joined
}

// Paste types the parts into the pane, each as a bracketed paste of its own where the program has asked for brackets,
// byte for byte, and keeps note in the pane; copy mode is left first. All of it happens or, with ErrRefused, ErrMoved or
// ErrGone, nothing. After any other error the note tells: it is written in the same step.
func (p *Pane) Paste(ctx context.Context, note string, parts ...[]byte) error {
	if err := checkLine("note", note); err != nil {
		return fmt.Errorf("paste to %s: %w", p.info.Name, err)
	}
	flags, err := p.s.pasteFlags(ctx)
	if err != nil {
		return fmt.Errorf("paste to %s: %w", p.info.Name, err)
	}
	base := p.s.bufferBase() + token()
	var load, names []string
	defer func() { p.s.discard(names) }()
	for i, part := range parts {
		if len(part) == 0 {
			continue // tmux makes no buffer of nothing
		}
		name := fmt.Sprintf("%s-%d", base, i)
		names = append(names, name)
		file := filepath.Join(p.s.o.Dir, name)
		if err := os.WriteFile(file, part, 0o600); err != nil {
			return fmt.Errorf("paste to %s: %w", p.info.Name, err)
		}
		load = append(load, "load-buffer", "-b", name, literal(file), ";")
	}
	line := []string{
		command("set-option", "-p", "-t", p.info.ID, "@orch_note", note),
		command("copy-mode", "-q", "-t", p.info.ID),
	}
	for _, name := range names {
		line = append(line, command("paste-buffer", flags, "-b", name, "-t", p.info.ID))
	}
	if err := p.guarded(ctx, load, line); err != nil {
		p.s.dropBuffers(ctx, names)
		return fmt.Errorf("paste into pane %s of %s: %w", p.info.ID, p.info.Name, err)
	}
	return nil
}

// pasteFlags ask for a bracketed paste that is not changed, and not kept. Since 3.7 tmux writes out what it thinks
// unsafe unless it is told not to.
func (s *Server) pasteFlags(ctx context.Context) (string, error) {
	if flags := s.paste.Load(); flags != nil {
		return *flags, nil
	}
	v, err := Probe(ctx, s.o.Bin)
	if err != nil {
		return "", err
	}
	flags := "-prd"
	if v.atLeast(3, 7) {
		flags += "S"
	}
	s.paste.Store(&flags)
	return flags, nil
}

// keyForm is what tmux knows as a key; other words it would type out letter by letter.
var keyForm = regexp.MustCompile(`^([CMS]-)*(\S|Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|PPage|NPage|IC|DC|F([1-9]|1[0-2]))$`)

// Press sends keys by their tmux names, such as "Enter", "Escape" or "C-c", under the same guard as Paste.
func (p *Pane) Press(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if !keyForm.MatchString(key) {
			return fmt.Errorf("press %q in pane of %s: tmux knows no such key; name one such as Enter, Escape, Down, y or 1", key, p.info.Name)
		}
	}
	line := []string{
		command("copy-mode", "-q", "-t", p.info.ID),
		command(append([]string{"send-keys", "-t", p.info.ID, "--"}, keys...)...),
	}
	if err := p.guarded(ctx, nil, line); err != nil {
		return fmt.Errorf("press %s in pane %s of %s: %w", strings.Join(keys, " "), p.info.ID, p.info.Name, err)
	}
	return nil
}

// guarded runs first, then the commands of line as one step inside the server, provided that the guard holds. For a
// pane that is not there the guard is false too; then the refusal carries no pane's id, or another's. Once begun it is
// not broken off when ctx ends, because then nobody would know whether the text was typed.
func (p *Pane) guarded(ctx context.Context, first, line []string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	done, refused, moved := "DONE", "REFUSED ", "MOVED"
	act := sequence(append(line, command("display-message", "-p", done))...)
	if p.still != "" {
		act = command("if-shell", "-F", "-t", p.info.ID, p.still, act, command("display-message", "-p", moved))
	}
	deny := command("display-message", "-p", "-t", p.info.ID, refused+"#{pane_id}")
	out, err := p.s.run(context.WithoutCancel(ctx), append(first, "if-shell", "-F", "-t", p.info.ID, p.guard(), act, deny)...)
	if err != nil {
		return err
	}
	switch out = strings.TrimSuffix(out, "\n"); {
	case out == done:
		return nil
	case out == moved:
		return ErrMoved
	case out == refused+p.info.ID:
		return ErrRefused
	case strings.HasPrefix(out, refused):
		return ErrGone
	}
	return fmt.Errorf("tmux printed %q", out)
}

// discard removes the files of a paste.
func (s *Server) discard(names []string) {
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.o.Dir, name)); err != nil && !os.IsNotExist(err) {
			s.o.Log.Warn().Err(err).Msg("paste file stays")
		}
	}
}

// dropBuffers removes the buffers of a paste that was not made, also when its caller has given up meanwhile.
func (s *Server) dropBuffers(ctx context.Context, names []string) {
	ctx = context.WithoutCancel(ctx)
	for _, name := range names {
		// Usually there is none: a paste that failed before it began has no buffer, and a server that is gone took it along.
		if _, err := s.run(ctx, "delete-buffer", "-b", name); err != nil {
			s.o.Log.Debug().Err(err).Str("buffer", name).Msg("no paste buffer to remove")
		}
	}
}
