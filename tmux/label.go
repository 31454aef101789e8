package tmux

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Label is what a pane's border says. Colour is a tmux colour such as "green", "colour244" or "#5f8787"; the words
// carry the meaning, the colour only repeats it.
type Label struct{ Title, State, Task, Colour string }

// labelled is what a pane's border was last made to say, and in which epoch: a new server uses the same ids again.
type labelled struct {
	epoch string
	label Label
}

// borderFormat shows role, state with its age, and task. Styles use the terminal's own palette on its own background,
// so that they can be read on dark and on light.
const borderFormat = "#{?@orch_state,#[fg=#{?@orch_colour,#{@orch_colour},default}]" +
	"#{?pane_active,#[bold],} #{?@orch_title,#{@orch_title},#{@orchestrator_agent}}#[nobold] · #{@orch_state}" +
	"#{?@orch_since, " + ageFormat + ",}#[fg=default]#{?@orch_task, · #{@orch_task},} , #{@orchestrator_agent} }"

// ageFormat counts seconds below two minutes, minutes below two hours, then hours.
const ageFormat = "#{?#{e|<:" + age + ",120}," + age + "s,#{?#{e|<:" + age + ",7200},#{e|/:" + age + ",60}m,#{e|/:" + age + ",3600}h}}"

// helpFormat says which keys help, more of them after the prefix, and nothing where the screen is narrow. The dot before
// them goes with them.
const helpFormat = "#{?client_prefix,· arrows move · z zoom · d detach · ? help ,#{?#{e|<:#{client_width},100},,· C-b ? help }}"

const age = "#{e|-:#{T:@orch_clock},#{@orch_since}}"

// sessionLook is the session's status line and manner.
func sessionLook(session string) []string {
	var out []string
	for _, kv := range [][2]string{
		{"@orch_clock", "%s"}, // expanded with the time of the moment: tmux has no variable for it
		{"history-limit", "50000"},
		{"mouse", "on"},
		{"status", "on"},
		{"status-interval", "5"},
		{"status-style", "fg=default,bg=default"},
		{"status-left-length", "40"},
		{"status-left", "#[fg=cyan,bold] #{session_name} #[default]"},
		{"status-right-length", "120"},
		{"status-right", "#{@orch_status} #[dim]" + helpFormat + "#[default]"},
		{"message-style", "fg=default,bg=default,reverse"},
	} {
		out = append(out, command("set-option", "-t", session, kv[0], kv[1]))
	}
	return out
}

// borderStatus is where the labels stand. tmux 3.7 spins for ever over a label above a pane of which a narrow client
// sees only a part.
const borderStatus = "#{?#{m:3.7*,#{version}},bottom,top}"

// windowLook is how one of our windows looks.
func windowLook(win string) []string {
	var out []string
	for _, kv := range [][2]string{
		{"automatic-rename", "off"},
		{"pane-border-status", borderStatus},
		{"pane-border-format", borderFormat},
		{"pane-border-style", "fg=#{?@orch_colour,#{@orch_colour},default}"},
		{"pane-active-border-style", "fg=#{?@orch_colour,#{@orch_colour},default},bold"},
		{"window-status-format", "#[dim] #{window_name}#{?window_bell_flag,!,} "},
		{"window-status-current-format", "#[bold] #{window_name}#{?window_zoomed_flag, (zoom),} "},
		{"window-status-bell-style", "fg=yellow,bold"},
	} {
		set := []string{"set-option", "-w", "-t", win}
		if kv[1] == borderStatus {
			set = append(set, "-F") // the others are expanded each time they are shown
		}
		out = append(out, command(append(set, kv[0], kv[1])...))
	}
	return out
}

// Label writes a pane's border; writing the same again costs nothing. The age shown starts anew with each change.
func (s *Server) Label(ctx context.Context, name string, l Label) error {
	if !colourForm.MatchString(l.Colour) {
		return fmt.Errorf("label %s: %q is no colour", name, l.Colour)
	}
	p, err := s.byName(ctx, name)
	if err != nil {
		return fmt.Errorf("label %s: %w", name, err)
	}
	now := labelled{epoch: p.Epoch, label: l}
	if last, ok := s.labels.Load(p.ID); ok && last == now {
		return nil
	}
	var line []string
	for _, kv := range [][2]string{
		{"@orch_title", shown(l.Title)}, {"@orch_state", shown(l.State)}, {"@orch_task", shown(l.Task)},
		{"@orch_colour", l.Colour}, {"@orch_since", strconv.FormatInt(time.Now().Unix(), 10)},
	} {
		line = append(line, command("set-option", "-p", "-t", p.ID, kv[0], kv[1]))
	}
	if _, err := s.script(ctx, sequence(line...)); err != nil {
		return fmt.Errorf("label %s: %w", name, err)
	}
	s.labels.Store(p.ID, now)
	return nil
}

// StatusLine writes the right part of the session's status line.
func (s *Server) StatusLine(ctx context.Context, text string) error {
	id, err := s.find(ctx)
	if err == nil {
		_, err = s.script(ctx, command("set-option", "-t", id+":", "@orch_status", shown(text)))
	}
	if err != nil {
		return fmt.Errorf("write status line: %w", err)
	}
	return nil
}

// Bell rings in the hub's window as if the hub itself had done it, so tmux passes it on to every client and marks the
// window, as the user has configured.
func (s *Server) Bell(ctx context.Context) error {
	p, err := s.byName(ctx, HubPane)
	if err != nil {
		return fmt.Errorf("ring the bell: %w", err)
	}
	out, err := s.run(ctx, "list-panes", "-t", p.ID, "-f", "#{==:#{pane_id},"+p.ID+"}", "-F", "#{pane_tty}")
	if err != nil {
		return fmt.Errorf("ring the bell: %w", err)
	}
	tty, err := os.OpenFile(strings.TrimSpace(out), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("ring the bell: %w", err)
	}
	_, err = tty.WriteString("\a")
	if closeErr := tty.Close(); err == nil {
		err = closeErr
	}
	return err
}

// AttachArgv is the command line that shows the session to a person, at the pane with the given id unless that is
// empty. The caller removes TMUX from the environment, so that it also works inside another tmux.
func (s *Server) AttachArgv(pane string) []string {
	if pane == "" {
		pane = "=" + s.o.Session
	}
	return append(append([]string{s.o.Bin}, s.base()...), "attach-session", "-t", pane)
}
