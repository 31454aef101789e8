package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// LayoutWindows is the layout with a window for each agent; the other one, "", has them all in one window.
const LayoutWindows = "windows"

// agentsWindow is the name of the window that all agents share.
const agentsWindow = "agents"

// SessionSpec is the session to be.
type SessionSpec struct {
	Hub    PaneSpec
	Agents []PaneSpec
	Layout string // "" or LayoutWindows
	Left   int    // how many of Agents stand in the left column; 0 is 2
}

// Build makes what is missing, keeps what lives and respawns what is dead: a whole session at the first call, a repair
// at the next. It returns the hub's pane and the agents', in the order of spec.
func (s *Server) Build(ctx context.Context, spec SessionSpec) ([]PaneInfo, error) {
	spec.Hub.Name = HubPane
	if spec.Left <= 0 {
		spec.Left = 2
	}
	if err := s.check(append([]PaneSpec{spec.Hub}, spec.Agents...)...); err != nil {
		return nil, err
	}
	if spec.Layout != "" && spec.Layout != LayoutWindows {
		return nil, fmt.Errorf("layout %q: must be empty or %q", spec.Layout, LayoutWindows)
	}
	s.build.Lock()
	defer s.build.Unlock()
	s.events.resume()
	s.spec = spec
	if err := s.start(ctx, spec.Hub, Size{}); err != nil {
		return nil, err
	}
	if err := s.sweep(ctx); err != nil {
		return nil, err
	}
	for _, agent := range spec.Agents {
		if err := s.ensure(ctx, agent); err != nil {
			return nil, fmt.Errorf("build pane of %s: %w", agent.Name, err)
		}
	}
	if err := s.arrange(ctx); err != nil {
		return nil, err
	}
	return s.ordered(ctx)
}

// ensure makes one agent's pane live.
func (s *Server) ensure(ctx context.Context, agent PaneSpec) error {
	panes, err := s.Panes(ctx)
	if err != nil {
		return err
	}
	for _, p := range panes {
		if p.Name != agent.Name {
			continue
		}
		if p.Dead {
			_, err = s.restart(ctx, p, agent)
		}
		return err
	}
	return s.addAgent(ctx, panes, agent)
}

// addAgent makes a pane for an agent that has none: in the agents' window when there is one, else in a new window
// before the hub's.
func (s *Server) addAgent(ctx context.Context, panes []PaneInfo, agent PaneSpec) error {
	var place []string
	for _, p := range panes {
		if p.Name == HubPane {
			place = []string{"-b", "-t", p.Window}
		} else if s.spec.Layout != LayoutWindows {
			return s.split(ctx, p, agent)
		}
	}
	if place == nil {
		place = []string{"-t", s.target()}
	}
	if s.spec.Layout == LayoutWindows {
		return s.createWindow(ctx, place, agent.Name, agent)
	}
	if err := s.createWindow(ctx, place, agentsWindow, agent); err != nil {
		return err
	}
	made, err := s.byName(ctx, agent.Name)
	if err == nil {
		_, err = s.run(ctx, "select-window", "-t", made.Window)
	}
	return err
}

// createWindow makes a window with one pane at a place that new-window understands.
func (s *Server) createWindow(ctx context.Context, place []string, name string, p PaneSpec) error {
	create := append([]string{"new-window", "-d", "-n", name, "-P", "-F", "#{pane_id}"}, place...)
	out, err := s.run(ctx, append(create, inert()...)...)
	if err != nil {
		return err
	}
	return s.adopt(ctx, strings.TrimSpace(out), p, name)
}

// split makes the agent's pane in the window of another.
func (s *Server) split(ctx context.Context, beside PaneInfo, p PaneSpec) error {
	out, err := s.run(ctx, "list-panes", "-t", beside.Window, "-F", "#{window_width} #{window_height}")
	if err != nil {
		return err
	}
	var size Size
	if _, err := fmt.Sscan(out, &size.Width, &size.Height); err != nil {
		return fmt.Errorf("read size of window %s from %q: %w", beside.Window, out, err)
	}
	size = s.least().cover(size)
	create := []string{ // even pieces of a window that is large enough always leave room for one more
		"resize-window", "-t", beside.Window, "-x", strconv.Itoa(size.Width), "-y", strconv.Itoa(size.Height), ";",
		"select-layout", "-t", beside.Window, "tiled", ";",
		"split-window", "-d", "-t", beside.ID, "-P", "-F", "#{pane_id}",
	}
	out, err = s.run(ctx, append(create, inert()...)...)
	if err != nil {
		return err
	}
	return s.adopt(ctx, strings.TrimSpace(out), p, agentsWindow)
}

// ordered lists the panes of the last spec in its order and says which are missing.
func (s *Server) ordered(ctx context.Context) ([]PaneInfo, error) {
	panes, err := s.Panes(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{HubPane}
	for _, a := range s.spec.Agents {
		names = append(names, a.Name)
	}
	var out []PaneInfo
	for _, name := range names {
		i := slices.IndexFunc(panes, func(p PaneInfo) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("build session %s: pane of %s: %w", s.o.Session, name, ErrGone)
		}
		out = append(out, panes[i])
	}
	return out, nil
}

// sweep removes what a driver that died in the middle of a paste has left: its buffers and its files.
func (s *Server) sweep(ctx context.Context) error {
	out, err := s.run(ctx, "list-buffers", "-F", "#{buffer_name}")
	if err != nil {
		return fmt.Errorf("list paste buffers: %w", err)
	}
	for name := range strings.Lines(out) {
		name = strings.TrimSuffix(name, "\n")
		if !strings.HasPrefix(name, bufferPrefix+s.o.Project+"-") || strings.HasPrefix(name, s.bufferBase()) {
			continue
		}
		if _, err := s.run(ctx, "delete-buffer", "-b", name); err != nil {
			s.o.Log.Warn().Err(err).Str("buffer", name).Msg("stale paste buffer stays")
		}
	}
	files, err := filepath.Glob(filepath.Join(s.o.Dir, bufferPrefix+"*"))
	if err != nil {
		return fmt.Errorf("list paste files: %w", err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), s.bufferBase()) {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove stale paste file: %w", err)
		}
	}
	return nil
}
