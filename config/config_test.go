package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/config"
	"orchestrator-cc/personalities"
	"orchestrator-cc/protocol"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type seat struct {
	Name   string
	Role   protocol.Role
	Marker string
	Pane   int
}

func seats(cfg config.Config) []seat {
	var list []seat
	for _, a := range cfg.Agents {
		list = append(list, seat{a.Name, a.Role, a.Marker, a.PaneIndex})
	}
	return list
}

func theFive() []seat {
	return []seat{
		{"grand_boss", protocol.GrandBoss, "GRAND BOSS OK", 0},
		{"middle_manager", protocol.MiddleManager, "MIDDLE MANAGER OK", 1},
		{"coding_writing_specialist", protocol.SpecialistCoding, "CODING OK", 2},
		{"research_analysis_specialist", protocol.SpecialistResearch, "RESEARCH OK", 3},
		{"testing_specialist", protocol.SpecialistTesting, "TESTING OK", 4},
	}
}

// write puts files (path, content, path, content...) into a fresh folder.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDefault(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	if diff := cmp.Diff(theFive(), seats(cfg)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(config.Cluster{Name: "orchestrator-cc", SessionName: "orchestrator-cc", Language: "en"}, cfg.Cluster); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
	if want := (config.Retry{Max: 3, Initial: time.Second, MaxDelay: 30 * time.Second, Multiplier: 2, Jitter: true}); cfg.Retry != want {
		t.Errorf("retry: got %+v, want %+v", cfg.Retry, want)
	}
	want := config.Limits{
		Timeout: 30 * time.Second, HardLimit: time.Hour, Accept: 30 * time.Second,
		Turns: 20, Depth: 5, OpenTasks: 100, PromptBytes: 4 << 20, PayloadBytes: protocol.MaxPayload,
	}
	if cfg.Limits != want {
		t.Errorf("limits: got %+v, want %+v", cfg.Limits, want)
	}
	if cfg.Engine != config.Auto || cfg.Layout != config.LayoutPanes || cfg.Tmux != (config.Tmux{Config: config.TmuxOwn}) || cfg.API.Listen != "" {
		t.Errorf("got engine %q, layout %q, tmux %+v, api %+v", cfg.Engine, cfg.Layout, cfg.Tmux, cfg.API)
	}
	if cfg.Permissions != nil || cfg.Journal.RotateBytes != 0 || len(cfg.Warnings) != 0 {
		t.Errorf("got permissions %v, journal %+v, warnings %q, want none", cfg.Permissions, cfg.Journal, cfg.Warnings)
	}
	for _, a := range cfg.Agents {
		brief, _ := personalities.Brief(a.Name, "en")
		if a.Personality != brief || a.PersonalityPath != "" || a.Timeout != 30*time.Second || a.Approvals.Default != protocol.DecideAsk || a.Approvals.Timeout != 10*time.Minute {
			t.Errorf("%s: got brief of %d bytes from %q, timeout %s, approvals %q", a.Name, len(a.Personality), a.PersonalityPath, a.Timeout, a.Approvals)
		}
	}
}

func TestDocumentLoadsAsItStands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/document.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := write(t, "config/cc-cluster.yaml", string(text), "config/personalities/testing_specialist.txt", "Test. End with TESTING OK.\n")
	cfg, err := config.Load(filepath.Join(dir, "config", "cc-cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theFive(), seats(cfg)); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if cfg.Cluster.WorkDir != dir {
		t.Errorf("work dir: got %q, want %q", cfg.Cluster.WorkDir, dir)
	}
	brief, _ := personalities.Brief("grand_boss", "en")
	if boss := cfg.Agents[0]; boss.Personality != brief || boss.PersonalityPath != "" {
		t.Errorf("boss: got %d bytes from %q, want the built-in brief", len(boss.Personality), boss.PersonalityPath)
	}
	if tester := cfg.Agents[4]; tester.Personality != "Test. End with TESTING OK.\n" ||
		tester.PersonalityPath != filepath.Join(dir, "config/personalities/testing_specialist.txt") {
		t.Errorf("tester: got %q from %q, want the file", tester.Personality, tester.PersonalityPath)
	}
	if len(cfg.Warnings) != 1 || !strings.HasPrefix(cfg.Warnings[0], "config/personalities/grand_boss.txt and 3 more are not there; ") {
		t.Errorf("got warnings %q, want one about the four missing files", cfg.Warnings)
	}
}

func TestEmbeddedFileLoadsWithoutAWordWhereBriefsAreMissing(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("c.yaml", config.DefaultYAML(), t.TempDir())
	if err != nil || len(cfg.Warnings) > 0 {
		t.Errorf("got %v and warnings %q, want none", err, cfg.Warnings)
	}
}

func TestWhatInitWritesLoadsWithoutAWord(t *testing.T) {
	t.Parallel()
	for _, lang := range personalities.Languages() {
		files := []string{"config/cc-cluster.yaml", string(config.DefaultYAMLIn(lang))}
		for _, f := range personalities.Files(lang) {
			files = append(files, "personalities/"+f.Name, f.Text)
		}
		dir := write(t, files...)
		cfg, err := config.Load(filepath.Join(dir, "config", "cc-cluster.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Cluster.Language != lang || len(cfg.Warnings) != 0 {
			t.Errorf("got language %q and warnings %q, want %q and none", cfg.Cluster.Language, cfg.Warnings, lang)
		}
		if got := cfg.Agents[1].PersonalityPath; got != filepath.Join(dir, "personalities/middle_manager.txt") {
			t.Errorf("manager's brief: got it from %q, want the file", got)
		}
	}
}

func TestEmptyFilesAreTheDefault(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# words\n", "---\n", "agents:\ncluster:\napi:\n"} {
		cfg, err := config.Parse("c.yaml", []byte(text), "")
		if err != nil {
			t.Errorf("%q: got %v, want no error", text, err)
		}
		if diff := cmp.Diff(config.Default(), cfg); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// Editors on other systems write carriage returns and byte order marks.
func TestForeignLineEnds(t *testing.T) {
	t.Parallel()
	text := "\ufeff" + strings.ReplaceAll(string(config.DefaultYAML()), "\n", "\r\n")
	cfg, err := config.Parse("c.yaml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), cfg); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// uncommented is the default file with every option switched on.
func uncommented() string {
	return regexp.MustCompile(`(?m)^( *)#(\S)`).ReplaceAllString(string(config.DefaultYAML()), "$1$2")
}

func TestCommentedOptionsAreTrue(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("cc-cluster.yaml", []byte(uncommented()), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.DefaultMatrix(), cfg.Permissions); diff != "" {
		t.Errorf("the documented permissions are not the default (-want +got):\n%s", diff)
	}
	boss, aider := cfg.Agents[0], cfg.Engines["aider"]
	if boss.Engine != config.Builtin || boss.Timeout != 2*time.Minute || !boss.MarkerLoose || boss.Env["LANG"] != "C.UTF-8" {
		t.Errorf("boss: got %+v", boss)
	}
	if aider.Flag != "--read" || aider.Personality != config.ByFile || !slices.Equal(aider.Command, []string{"aider", "--no-auto-commits"}) {
		t.Errorf("aider: got %+v", aider)
	}
	if cfg.API.Listen != "127.0.0.1:8000" || cfg.API.TLS.Key != "certs/server.key" {
		t.Errorf("api: got %+v", cfg.API)
	}
}

// The file must document every key that the reader knows; the reader tells
// which ones it knows when it meets a key that it does not.
func TestEveryOptionIsDocumented(t *testing.T) {
	t.Parallel()
	const odd = "qqqqqqqqqqqqqqqqqqqqqqqq: 1"
	total := 0
	for _, object := range []string{
		odd, "cluster: {" + odd + "}", "agents: [{" + odd + "}]", "engines: {mine: {" + odd + "}}", "tmux: {" + odd + "}",
		"api: {" + odd + "}", "api: {tls: {" + odd + "}}", "routing: {" + odd + "}", "retry: {" + odd + "}", "limits: {" + odd + "}",
		"permissions: [{" + odd + "}]", "journal: {" + odd + "}",
	} {
		_, err := config.Parse("c.yaml", []byte(object), "")
		var problems *config.Problems
		if !errors.As(err, &problems) {
			t.Fatalf("%s: got %v, want problems", object, err)
		}
		for _, p := range problems.List {
			list, found := strings.CutPrefix(p.Cure, "write one of: ")
			if !found || p.Message != "this key is unknown" {
				continue
			}
			for key := range strings.SplitSeq(list, ", ") {
				total++
				if !regexp.MustCompile(`(?m)(^|[ {#])` + key + `:`).Match(config.DefaultYAML()) {
					t.Errorf("%s: key %q is not in the default file", object, key)
				}
			}
		}
	}
	if total < 55 {
		t.Errorf("got %d keys from the reader, want all of them", total)
	}
}

func TestOverlayKeepsTheRest(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("c.yaml", []byte("limits: {turns: 7}\nlayout: windows\nengines: {claude: {settle: 2s}}\ncluster: {language: ja}\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Limits.Turns != 7 || cfg.Limits.Depth != 5 || cfg.Layout != config.LayoutWindows {
		t.Errorf("got limits %+v, layout %q", cfg.Limits, cfg.Layout)
	}
	if e := cfg.Engines["claude"]; e.Settle != 2*time.Second || e.Flag != "--append-system-prompt" {
		t.Errorf("claude: got %+v, want only settle changed", e)
	}
	if !strings.HasPrefix(cfg.Agents[0].Personality, "あなたは grand_boss") {
		t.Errorf("got brief %.30q, want the Japanese one", cfg.Agents[0].Personality)
	}
	if e := config.Default().Engines["claude"]; e.Settle != time.Second {
		t.Errorf("default after another load: got settle %s, want it untouched", e.Settle)
	}
}

func TestAgentsAreSortedByPane(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("c.yaml", []byte(`agents:
- {name: late, role: specialist_x, marker: LATE, pane_index: 5, command: [cat]}
- {name: early, role: specialist_x, marker: EARLY, pane_index: 2, command: [cat]}
`), "")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Agents[0].Name != "early" || cfg.Agents[1].Name != "late" {
		t.Errorf("got %v, want early first", seats(cfg))
	}
	if cfg.Agents[0].Engine != config.Custom || cfg.Agents[0].Personality != "" {
		t.Errorf("got engine %q and a brief of %d bytes, want %q and none", cfg.Agents[0].Engine, len(cfg.Agents[0].Personality), config.Custom)
	}
}

func TestLoadMissingFile(t *testing.T) {
	t.Parallel()
	_, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "orchestrator-cc init") {
		t.Errorf("got %v, want fs.ErrNotExist with a hint", err)
	}
}

func TestMarkerNotInPersonalityIsAWarning(t *testing.T) {
	t.Parallel()
	dir := write(t, "brief.txt", "Do as you like.")
	cfg, err := config.Parse("c.yaml", []byte("agents: [{name: x, role: grand_boss, marker: X OK, personality_prompt_path: brief.txt}]"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) != 1 || !strings.Contains(cfg.Warnings[0], `does not mention its marker "X OK"`) {
		t.Errorf("got warnings %q, want one about the marker", cfg.Warnings)
	}
}

// Whatever is done to a file, reading it ends with a configuration or with
// problems that have a place; never with a panic.
func TestDamagedFilesAreSurvived(t *testing.T) {
	t.Parallel()
	const whole = `cluster: {name: x, session_name: x, work_dir: ".>", language: ja}
engine: mine
agents:
  - name: grand_boss
    role: grand_boss
    marker: GRAND BOSS OK
    env: &env {A: "1", B: 2}
    timeout: 10s
  - {name: s, role: specialist_s, marker: S OK, command: [a, "b c"], env: *env}
engines:
  mine:
    command: [x]
    ready: ['^> $', 'y+']
    submit: [Enter]
    settle: 10ms
api: {listen: "127.0.0.1:80", tls: {cert: a, key: b}}
routing: {chat: s}
retry: {multiplier: 1.5, jitter: true}
permissions:
  - {from: user, to: all, types: [request]}
`
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(whole)).Draw(t, "from")
		to := min(len(whole), from+rapid.IntRange(0, 40).Draw(t, "length"))
		junk := rapid.SampledFrom([]string{"", "\t", "*x", "&x ", "[", "{", "'", "\"", "\n- ", "!!binary ", "<<: ", "null", "\x00", "\xff", "? ", "99999999999999999999", ".nan", "\n---\n"}).Draw(t, "junk")
		_, err := config.Parse("c.yaml", []byte(whole[:from]+junk+whole[to:]), "")
		var problems *config.Problems
		if err == nil {
			return
		}
		if !errors.As(err, &problems) || len(problems.List) == 0 {
			t.Fatalf("got %v, want problems", err)
		}
		for _, p := range problems.List {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.Contains(p.String(), "\n") {
				t.Fatalf("got %q, want a place and one line", p)
			}
		}
	})
}
