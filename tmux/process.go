package tmux

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// wrapper runs an agent's program as the pane's own command and holds the terminal open for a moment after its end:
// tmux loses what a program prints in its last instants. A program that was ended by a signal is reported so, by
// ending the same way. Ctrl-C is the program's affair, hence the empty traps, which the program does not inherit.
const wrapper = `trap : INT QUIT; "$@"; rc=$?; sleep 0.3; trap - INT QUIT
if [ $rc -gt 128 ]; then ulimit -c 0; kill -$((rc-128)) $$; fi 2>/dev/null; exit $rc`

// supervisor runs the hub and starts it again whenever it ends: soon where it was killed, a second later where it gave
// up by itself, because a hub that cannot start must not keep the machine busy. It ends with its terminal. That it is a
// process of the pane and no hook of tmux has a reason: what tmux runs later, with run-shell -C, runs in the name of an
// attached client, and the client at hand is the dead hub's own. Its going away loses the command, or crashes tmux 3.3a.
const supervisor = `trap : INT QUIT; while :; do "$@"; if [ $? -gt 128 ]; then sleep 0.1; else sleep 1; fi; done`

// processArgs are the arguments of new-session, new-window, split-window and respawn-pane that say what to run.
func processArgs(p PaneSpec) []string {
	var args []string
	if p.Dir != "" {
		args = append(args, "-c", literal(p.Dir))
	}
	for _, kv := range p.Env {
		args = append(args, "-e", kv)
	}
	how := wrapper
	if p.Name == HubPane {
		how = supervisor
	}
	return append(append(args, "--", "sh", "-c", how, p.Name), p.Argv...)
}

// inert is what a new pane runs until it is adopted. Should this process die in between, the pane goes away by itself
// and no agent runs unseen.
func inert() []string { return []string{"--", "sh", "-c", "exec sleep 30"} }

// adopt makes a new pane ours by its id, whatever the user's hooks have done around it, and starts its program: first
// its name, its epoch and what happens at its death, then the process. A pane-level setting against synchronize-panes
// keeps keys meant for one agent away from the others.
func (s *Server) adopt(ctx context.Context, id string, p PaneSpec, windowName string) error {
	set := func(args ...string) string {
		return command(append([]string{"set-option", "-p", "-t", id}, args...)...)
	}
	died := s.announce(id, windowName)
	line := []string{
		set("@orchestrator_agent", p.Name),
		set("@orch_epoch", token()),
		set("remain-on-exit", "on"),
		set("synchronize-panes", "off"),
		set("allow-rename", "off"),
	}
	if p.Name == HubPane {
		died = sequence(respawn(id, p), died)
	}
	line = append(line, command("set-hook", "-p", "-t", id, "pane-died", died))
	line = append(line, windowLook(id)...)
	line = append(line, command("rename-window", "-t", id, windowName), respawn(id, p, "-k"), command("clear-history", "-t", id))
	_, err := s.script(ctx, sequence(line...))
	return err
}

// announce makes tmux tell control clients about a death. Renaming the window to its own name is the one thing that
// does; a hook's own commands tell nobody, so it is done from outside.
func (s *Server) announce(id, windowName string) string {
	return command("run-shell", "-b", fmt.Sprintf("'%s' -S '#{socket_path}' rename-window -t %s %s >/dev/null 2>&1 || :", s.o.Bin, id, windowName))
}

// respawn is the command that puts a program into a pane.
func respawn(id string, p PaneSpec, flags ...string) string {
	return command(append(append([]string{"respawn-pane", "-t", id}, flags...), processArgs(p)...)...)
}

// reviveHub starts a dead hub and leaves a living one alone.
func (s *Server) reviveHub(ctx context.Context, info PaneInfo, hub PaneSpec) error {
	if !info.Dead {
		return nil
	}
	_, err := s.restart(ctx, info, hub)
	return err
}

// restart puts a new process into an existing pane. The new epoch is set first, so that nothing meant for the old
// process reaches the new one.
func (s *Server) restart(ctx context.Context, info PaneInfo, spec PaneSpec) (PaneInfo, error) {
	set := func(args ...string) string {
		return command(append([]string{"set-option", "-p", "-t", info.ID}, args...)...)
	}
	line := []string{
		set("@orch_epoch", token()),
		set("-u", "@orch_note"),
		respawn(info.ID, spec, "-k"),
		command("clear-history", "-t", info.ID),
	}
	if spec.Name == HubPane {
		died := sequence(respawn(info.ID, spec), s.announce(info.ID, HubPane))
		line = append(line, command("set-hook", "-p", "-t", info.ID, "pane-died", died))
	}
	if _, err := s.script(ctx, sequence(line...)); err != nil {
		return PaneInfo{}, fmt.Errorf("respawn %s: %w", spec.Name, err)
	}
	if !info.Dead {
		endGroup(ctx, info.PID)
	}
	return s.byName(ctx, spec.Name)
}

// endGroup waits for the processes of a pane that was taken away. tmux only hangs up on them; one that ignores that
// would go on working unseen, so it is killed after a second.
func endGroup(ctx context.Context, leader int) {
	if leader <= 1 || leader == syscall.Getpgrp() {
		return
	}
	if !until(ctx, time.Second, func() bool { return extinct(ctx, -leader) }) {
		_ = syscall.Kill(-leader, syscall.SIGKILL)
	}
}

// extinct says whether no process with this id runs, or none of this group where id is negative. One that has ended
// and only waits to be collected counts as gone: the collector may be slow, and it is not ours.
func extinct(ctx context.Context, id int) bool {
	if syscall.Kill(id, 0) != nil {
		return true
	}
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,pgid=,stat=").Output()
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(out)) {
		var pid, group int
		var stat string
		if _, err := fmt.Sscan(line, &pid, &group, &stat); err != nil {
			continue
		}
		if (pid == id || group == -id) && !strings.HasPrefix(stat, "Z") {
			return false
		}
	}
	return true
}

// Respawn starts a pane's program anew: new epoch, empty history, no note. A pane that was killed is made again.
func (s *Server) Respawn(ctx context.Context, spec PaneSpec) (PaneInfo, error) {
	if err := s.check(spec); err != nil {
		return PaneInfo{}, err
	}
	s.build.Lock()
	defer s.build.Unlock()
	panes, err := s.Panes(ctx)
	if err != nil {
		return PaneInfo{}, fmt.Errorf("respawn %s: %w", spec.Name, err)
	}
	for _, p := range panes {
		if p.Name == spec.Name {
			return s.restart(ctx, p, spec)
		}
	}
	if err := s.addAgent(ctx, panes, spec); err != nil {
		return PaneInfo{}, fmt.Errorf("make pane of %s again: %w", spec.Name, err)
	}
	if err := s.arrange(ctx); err != nil {
		return PaneInfo{}, err
	}
	return s.byName(ctx, spec.Name)
}

// Renew gives a living pane a new epoch, so that what another driver is about to type there is refused.
func (s *Server) Renew(ctx context.Context, name string) (PaneInfo, error) {
	p, err := s.byName(ctx, name)
	if err != nil {
		return p, err
	}
	epoch := token()
	guard := fmt.Sprintf("#{==:#{@orchestrator_agent},%s}", name)
	out, err := s.run(ctx, "if-shell", "-F", "-t", p.ID, guard,
		sequence(command("set-option", "-p", "-t", p.ID, "@orch_epoch", epoch), "display-message -p DONE"))
	if err != nil {
		return p, fmt.Errorf("renew %s: %w", name, err)
	}
	if strings.TrimSpace(out) != "DONE" {
		return p, fmt.Errorf("renew %s: pane %s: %w", name, p.ID, ErrGone)
	}
	p.Epoch = epoch
	return p, nil
}
