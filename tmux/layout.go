package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tallHeight is the height of an agent's own window: a program on the alternate screen has no scrollback, so its
// answer must fit on the screen.
const tallHeight = 300

// least is the least size of the agents' window, whoever looks at it: what a client of 120x40 shows whole below its
// status line. There three panes in a column keep 12 rows each, and a longer column gets at least 10 for each.
func (s *Server) least() Size {
	rows := max(s.spec.Left, len(s.spec.Agents)-s.spec.Left)
	return Size{Width: 120, Height: max(39, 10*rows)}
}

// unseen is the size of a session that nobody has looked at yet: two columns of 79, in which the agent programs were
// measured.
func (s *Server) unseen() Size { return Size{Width: 160, Height: 48}.cover(s.least()) }

// cell is a rectangle in a layout.
type cell struct{ w, h, x, y int }

func (c cell) String() string { return fmt.Sprintf("%dx%d,%d,%d", c.w, c.h, c.x, c.y) }

// layout writes tmux's layout string for columns of panes, half of the width each for two, with even heights.
func layout(size Size, columns [][]string) string {
	root := cell{w: size.Width, h: size.Height}
	if len(columns) == 1 {
		return checksummed(column(root, columns[0]))
	}
	left := root
	left.w = (root.w - 1) / 2
	right := cell{w: root.w - left.w - 1, h: root.h, x: left.w + 1}
	return checksummed(root.String() + "{" + column(left, columns[0]) + "," + column(right, columns[1]) + "}")
}

// column stacks panes in a cell as tmux's own even spread does: the first is a row higher, for the border with its
// label above it, and the last one takes what remains.
func column(c cell, panes []string) string {
	if len(panes) == 1 {
		return c.String() + "," + panes[0]
	}
	each := (c.h - 1 - (len(panes) - 1)) / len(panes)
	rows := make([]string, len(panes))
	y := c.y
	for i, pane := range panes {
		row := cell{w: c.w, h: each, x: c.x, y: y}
		switch i {
		case 0:
			row.h = each + 1
		case len(panes) - 1:
			row.h = c.y + c.h - y
		}
		y += row.h + 1
		rows[i] = row.String() + "," + pane
	}
	return c.String() + "[" + strings.Join(rows, ",") + "]"
}

// checksummed puts tmux's rotating checksum before a layout.
func checksummed(layout string) string {
	var sum uint16
	for i := range len(layout) {
		sum = sum>>1 + sum&1<<15
		sum += uint16(layout[i])
	}
	return fmt.Sprintf("%04x,%s", sum, layout)
}

// arrange puts the agents in their places and tells tmux how to keep them there when a client comes or changes size.
func (s *Server) arrange(ctx context.Context) error {
	panes, err := s.Panes(ctx)
	if err != nil {
		return err
	}
	var agents []PaneInfo // in the order of the spec
	for _, a := range s.spec.Agents {
		i := slices.IndexFunc(panes, func(p PaneInfo) bool { return p.Name == a.Name })
		if i >= 0 {
			agents = append(agents, panes[i])
		}
	}
	if len(agents) == 0 {
		return nil
	}
	if s.spec.Layout == LayoutWindows {
		if err := s.stretch(ctx, agents); err != nil {
			return err
		}
		return s.follow(ctx, s.tallFollow(agents), "")
	}
	if err := s.place(ctx, agents); err != nil {
		return fmt.Errorf("lay out window %s: %w", agentsWindow, err)
	}
	width, height := s.followWidth(), s.followHeight()
	largest := sequence("resize-window -A -t "+agents[0].Window, s.sharedFollow(agents, s.windowWidth(), s.windowHeight()))
	return s.follow(ctx, s.sharedFollow(agents, width, height), largest)
}

// stretch makes each agent's own window tall, as wide as it is.
func (s *Server) stretch(ctx context.Context, agents []PaneInfo) error {
	var lines []string
	for _, p := range agents {
		resize := fmt.Sprintf("resize-window -t %s -x #{?#{e|<:#{window_width},%[2]d},%[2]d,#{window_width}} -y %d",
			p.Window, s.least().Width, tallHeight)
		lines = append(lines, command("run-shell", "-t", p.ID, "-C", resize))
	}
	if _, err := s.script(ctx, sequence(lines...)); err != nil {
		return fmt.Errorf("stretch windows: %w", err)
	}
	return nil
}

// place brings the panes of the shared window into order. A window in which a person has opened or taken away panes
// is left as that person made it, and a zoomed one as it is.
func (s *Server) place(ctx context.Context, agents []PaneInfo) error {
	win := agents[0].Window
	out, err := s.run(ctx, "list-panes", "-t", win, "-F", "#{pane_id} #{window_zoomed_flag} #{window_width} #{window_height} #{window_layout}")
	if err != nil {
		return err
	}
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if len(rows) != len(agents) || slices.ContainsFunc(agents, func(p PaneInfo) bool { return p.Window != win }) {
		return nil
	}
	var order []string
	var size Size
	var zoomed, now string
	for _, row := range rows {
		var id string
		if _, err := fmt.Sscan(row, &id, &zoomed, &size.Width, &size.Height, &now); err != nil {
			return fmt.Errorf("read %q: %w", row, err)
		}
		order = append(order, id)
	}
	size = s.least().cover(size)
	want := layout(size, columns(agents, s.spec.Left))
	if now == want || zoomed == "1" {
		return nil
	}
	line := []string{command("resize-window", "-t", win, "-x", strconv.Itoa(size.Width), "-y", strconv.Itoa(size.Height))}
	line = append(line, swaps(order, agents)...)
	_, err = s.script(ctx, sequence(append(line, command("select-layout", "-t", win, want))...))
	return err
}

// columns splits the agents into left and right; the numbers are their pane ids without the percent sign.
func columns(agents []PaneInfo, left int) [][]string {
	left = min(left, len(agents))
	var cols [][]string
	for _, part := range [][]PaneInfo{agents[:left], agents[left:]} {
		var ids []string
		for _, p := range part {
			ids = append(ids, strings.TrimPrefix(p.ID, "%"))
		}
		if len(ids) > 0 {
			cols = append(cols, ids)
		}
	}
	return cols
}

// swaps brings panes into the wanted order, because a layout string fills its cells by pane index.
func swaps(order []string, want []PaneInfo) []string {
	var out []string
	for i, p := range want {
		j := slices.Index(order, p.ID)
		if j <= i {
			continue
		}
		out = append(out, command("swap-pane", "-d", "-s", order[j], "-t", order[i]))
		order[i], order[j] = order[j], order[i]
	}
	return out
}

// followWidth is a format for the width of a window under a client: the client's, but never below the least.
func (s *Server) followWidth() string {
	return fmt.Sprintf("#{?#{e|<:#{client_width},%[1]d},%[1]d,#{client_width}}", s.least().Width)
}

// followHeight is the same for the height; the client's last row belongs to the status line.
func (s *Server) followHeight() string {
	least := s.least().Height
	return fmt.Sprintf("#{?#{e|<:#{client_height},%d},%d,#{e|-:#{client_height},1}}", least+1, least)
}

// windowWidth and windowHeight are formats for the window's own size, but never below the least.
func (s *Server) windowWidth() string {
	return fmt.Sprintf("#{?#{e|<:#{window_width},%[1]d},%[1]d,#{window_width}}", s.least().Width)
}

func (s *Server) windowHeight() string {
	return fmt.Sprintf("#{?#{e|<:#{window_height},%[1]d},%[1]d,#{window_height}}", s.least().Height)
}

// sharedFollow resizes the agents' window with the client and makes the columns even again, unless a pane is zoomed,
// which that would undo. It sets the sizes that layout has: tmux's own even spread differs between versions.
func (s *Server) sharedFollow(agents []PaneInfo, width, height string) string {
	win, left := agents[0].Window, min(s.spec.Left, len(agents))
	resize := "resize-window -t " + win + " -x " + width + " -y " + height
	var even []string
	if left < len(agents) {
		even = append(even, "resize-pane -t "+agents[0].ID+" -x #{e|/:#{e|-:#{window_width},1},2}")
	}
	even = append(append(even, evenHeights(agents[:left])...), evenHeights(agents[left:])...)
	follow := command("run-shell", "-t", win, "-C", resize)
	if len(even) == 0 {
		return follow
	}
	return sequence(follow, command("if-shell", "-F", "-t", win, "#{window_zoomed_flag}", "", command("run-shell", "-t", win, "-C", sequence(even...))))
}

// evenHeights makes the panes of a column equally high; the last one takes what remains.
func evenHeights(panes []PaneInfo) []string {
	var out []string
	for i := range len(panes) - 1 {
		out = append(out, fmt.Sprintf("resize-pane -t %s -y #{e|/:#{e|-:#{window_height},%[2]d},%[2]d}", panes[i].ID, len(panes)))
	}
	return out
}

// tallFollow resizes each agent's own window in width only.
func (s *Server) tallFollow(agents []PaneInfo) string {
	var all []string
	for _, p := range agents {
		resize := fmt.Sprintf("resize-window -t %s -x %s -y %d", p.Window, s.followWidth(), tallHeight)
		all = append(all, command("run-shell", "-C", resize))
	}
	return sequence(all...)
}

// follow installs what happens when a client comes or changes its size. A control client has no screen to follow.
// The windows get their manual size one by one: as a global option that crashes tmux when the next window is made.
func (s *Server) follow(ctx context.Context, commands, largest string) error {
	var lines []string
	for _, event := range []string{"client-attached", "client-resized", "client-session-changed"} {
		// tmux asks the client that was active last. Where that is a control client although another one changed its size,
		// the window first takes the largest client's size; then the least size is kept by the window's own numbers.
		instead := ""
		if event == "client-resized" {
			instead = largest
		}
		hook := command("if-shell", "-F", "#{client_control_mode}", instead, commands)
		// A high index of our own leaves the hooks of the user's server alone.
		lines = append(lines, command("set-hook", "-t", s.target(), event+"[90]", hook))
	}
	if _, err := s.script(ctx, sequence(lines...)); err != nil {
		return fmt.Errorf("install size hooks: %w", err)
	}
	return nil
}
