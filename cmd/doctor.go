package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"orchestrator-cc/agents"
	"orchestrator-cc/bus"
	"orchestrator-cc/config"
	"orchestrator-cc/tmux"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Examine this machine and this project, with a cure for each problem",
		Example: "  orchestrator-cc doctor",
		GroupID: groupCare,
		Args:    takes(false),
		RunE:    func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a) },
	}
}

// finding is one line of the examination.
type finding struct {
	grade grade
	what  string // the thing examined
	text  string
	cure  string
}

type grade string

const (
	gradeOK   grade = "ok"
	gradeNone grade = "--" // neither well nor ill: it is not there
	gradeWarn grade = "warn"
	gradeFail grade = "fail"
)

func runDoctor(ctx context.Context, a *app) error {
	p, _, err := findPlace(a.dir, a.getenv)
	if err != nil {
		return err
	}
	cfg, configured := examineConfig(p)
	findings := []finding{examineTmux(ctx), examineLocale(a.getenv), examineTerm(a.getenv), configured}
	findings = append(findings, examineFolder(p), examineJournal(p, cfg), examineDisk(p))
	findings = append(findings, a.examineHub(ctx, p)...)
	findings = append(findings, examineStream(p)...)
	findings = append(findings, a.examineEngines(ctx, cfg)...)

	failed := false
	for _, f := range findings {
		tone := map[grade]tone{gradeOK: green, gradeWarn: yellow, gradeFail: red}[f.grade]
		a.out.printf("%s %-9s %s\n", a.out.paint(tone, fmt.Sprintf("%-4s", f.grade)), f.what, oneLines(f.text))
		if f.cure != "" {
			a.out.printf("               %s\n", f.cure)
		}
		failed = failed || f.grade == gradeFail
	}
	if failed {
		return errShown
	}
	return nil
}

// oneLines keeps every line of a text below the first one's place.
func oneLines(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(harmless(text)), "\n", "\n               ")
}

func examineTmux(ctx context.Context) finding {
	v, err := tmux.Probe(ctx, "")
	if err != nil {
		return finding{gradeFail, "tmux", err.Error(), ""}
	}
	return finding{gradeOK, "tmux", v.Raw, ""}
}

func examineLocale(getenv func(string) string) finding {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		if upper := strings.ToUpper(value); strings.Contains(upper, "UTF-8") || strings.Contains(upper, "UTF8") {
			return finding{gradeOK, "locale", name + "=" + value, ""}
		}
		return finding{gradeWarn, "locale", name + "=" + value + " is not UTF-8; the session is, but your own tools may not be", "export " + name + "=C.UTF-8"}
	}
	return finding{gradeWarn, "locale", "none is set; the session uses UTF-8 all the same", "export LANG=C.UTF-8"}
}

func examineTerm(getenv func(string) string) finding {
	if name := getenv("TERM"); name != "" && name != "dumb" {
		return finding{gradeOK, "terminal", "TERM=" + name, ""}
	}
	return finding{gradeWarn, "terminal", "TERM is not set, so attach cannot draw", "export TERM=xterm-256color"}
}

func examineConfig(p place) (config.Config, finding) {
	card, _, _ := p.readHubCard() // A card that cannot be read is the hub's finding.
	cfg, err := loadConfig(p, card.Config, "", card.Auto)
	if err != nil {
		return config.Default(), finding{gradeFail, "config", err.Error(), configCure(err)}
	}
	text := fmt.Sprintf("%s, session %s", count(len(cfg.Agents), "agent"), cfg.Cluster.SessionName)
	if len(cfg.Warnings) > 0 {
		return cfg, finding{gradeOK, "config", text + "\n" + strings.Join(cfg.Warnings, "\n"), ""}
	}
	return cfg, finding{gradeOK, "config", text, ""}
}

// configCure says where to mend a configuration, and never to write it anew:
// the mistake may be one letter in a day's work.
func configCure(err error) string {
	var problems *config.Problems
	var closed *fs.PathError
	switch {
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &closed):
		return "make it readable: chmod u+r " + closed.Path
	case !errors.As(err, &problems) || len(problems.List) == 0:
		return ""
	}
	first := problems.List[0]
	return fmt.Sprintf("correct the file at %s:%d", first.File, first.Line)
}

func examineFolder(p place) finding {
	info, err := os.Stat(p.state())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writable("folder", p.root)
	case err != nil:
		return finding{gradeFail, "folder", err.Error(), ""}
	case info.Mode().Perm()&0o077 != 0:
		return finding{gradeWarn, "folder", fmt.Sprintf("%s is open to others (%o)", p.state(), info.Mode().Perm()), "chmod 700 " + p.state()}
	}
	return writable("folder", p.state())
}

// writable tries what it claims: permissions alone do not tell of a disk that
// is mounted read-only.
func writable(what, dir string) finding {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return finding{gradeFail, what, fmt.Sprintf("cannot write: %v", err), "make it writable: chmod u+rwx " + dir}
	}
	err = errors.Join(f.Close(), os.Remove(f.Name()))
	if err != nil {
		return finding{gradeFail, what, err.Error(), ""}
	}
	return finding{gradeOK, what, dir, ""}
}

func examineJournal(p place, cfg config.Config) finding {
	if cfg.Cluster.WorkDir == "" {
		cfg.Cluster.WorkDir = p.root
	}
	path := journalPath(cfg)
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return finding{gradeNone, "journal", path + " (not begun)", ""}
	}
	f := writable("journal", dir)
	if f.grade == gradeOK {
		f.text = path
	}
	return f
}

// What a store needs to go on for a while, and to go on at all.
const (
	wantedSpace = 200 << 20
	neededSpace = 10 << 20
)

func examineDisk(p place) finding {
	var s syscall.Statfs_t
	if err := syscall.Statfs(p.root, &s); err != nil {
		return finding{gradeWarn, "disk", err.Error(), ""}
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	text := fmt.Sprintf("%d MB free", free>>20)
	switch {
	case free < neededSpace:
		return finding{gradeFail, "disk", text, "make room: nothing can be accepted on a full disk"}
	case free < wantedSpace:
		return finding{gradeWarn, "disk", text, "make room soon"}
	}
	return finding{gradeOK, "disk", text, ""}
}

func (a *app) examineHub(ctx context.Context, p place) []finding {
	card, found, err := p.readHubCard()
	if errors.Is(err, fs.ErrPermission) {
		return []finding{{gradeFail, "hub", err.Error(), "make its folder yours: chmod u+rwx " + p.state()}}
	}
	if err != nil {
		return []finding{{gradeFail, "hub", err.Error(), "remove the file, then: orchestrator-cc up"}}
	}
	if !found {
		return []finding{{gradeNone, "hub", "not running", "start it with: orchestrator-cc up"}}
	}
	hub, err := a.living(ctx, p)
	if err != nil {
		return []finding{{gradeFail, "hub", err.Error(), ""}}
	}
	if hub == nil {
		return []finding{{gradeFail, "hub", fmt.Sprintf("process %d does not answer on %s", card.PID, card.Socket), "start it again with: orchestrator-cc up"}}
	}
	defer hub.Close()
	pulse, err := hub.Health(ctx)
	if err != nil {
		return []finding{{gradeFail, "hub", err.Error(), ""}}
	}
	out := []finding{{gradeOK, "hub", fmt.Sprintf("process %d, session %s on tmux server %s", pulse.Hub.PID, pulse.Hub.Session, pulse.Hub.Socket), ""}}
	for _, problem := range pulse.Hub.Problems {
		out = append(out, finding{gradeFail, "hub", problem, ""})
	}
	return out
}

func examineStream(p place) []finding {
	if _, err := os.Stat(p.stream()); errors.Is(err, fs.ErrNotExist) {
		return []finding{{gradeNone, "stream", "not begun", ""}}
	}
	report, err := bus.Check(p.stream())
	if err != nil {
		return []finding{{gradeFail, "stream", err.Error(), ""}}
	}
	text := fmt.Sprintf("%s in %s, %d KB", count(report.Entries, "entry"), count(report.Segments, "file"), report.Bytes>>10)
	out := []finding{{gradeOK, "stream", text, ""}}
	for _, damage := range report.Damage {
		out = append(out, finding{gradeFail, "stream", damage, "the rest is read without it; bring the file back from a backup if there is one"})
	}
	return out
}

// examineEngines asks the programs for their versions side by side, for some
// take seconds to tell.
func (a *app) examineEngines(ctx context.Context, cfg config.Config) []finding {
	names := slices.Sorted(maps.Keys(cfg.Engines))
	names = slices.DeleteFunc(names, func(name string) bool { return len(cfg.Engines[name].Command) == 0 })
	out := make([]finding, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { out[i] = a.examineEngine(ctx, cfg.Engines[name]) })
	}
	group.Wait()
	return out
}

func (a *app) examineEngine(ctx context.Context, e config.Engine) finding {
	if e.Command[0] == config.Self && lacksModel(e, a.getenv) {
		return finding{gradeNone, "engine", e.Name + ": built in, but no model is named", "set " + envChatModel + " in its env:, see docs/ENGINES.md"}
	}
	if e.Command[0] == config.Self {
		return finding{gradeOK, "engine", e.Name + ": built in", ""}
	}
	path, err := exec.LookPath(e.Command[0])
	if err != nil {
		return finding{gradeNone, "engine", e.Name + ": not installed", ""}
	}
	f := finding{gradeOK, "engine", e.Name + ": " + path + "\n" + agents.Abilities(e.Hooks), ""}
	if e.Tested == "" {
		return f
	}
	version, known := describeVersion(ctx, e)
	f.text = fmt.Sprintf("%s: %s, %s\n%s", e.Name, path, version, agents.Abilities(e.Hooks))
	if !known {
		f.grade = gradeWarn
		f.cure = "if its agents become degraded, say under engines: what its screen looks like now, or install the tested version"
	}
	return f
}
