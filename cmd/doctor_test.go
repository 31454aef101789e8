package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrator-cc/protocol"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(t *testing.T, r *rig)
		code  int
		want  string
	}{
		{"all is well", func(*testing.T, *rig) {}, 0, "ok   hub       process 1"},
		{"no UTF-8", func(_ *testing.T, r *rig) { r.getenv = environment("LANG", "C") }, 0, "warn locale    LANG=C is not UTF-8"},
		{"UTF-8", func(_ *testing.T, r *rig) { r.getenv = environment("LANG", "ja_JP.UTF-8") }, 0, "ok   locale    LANG=ja_JP.UTF-8"},
		{"no TERM", func(*testing.T, *rig) {}, 0, "warn terminal  TERM is not set"},
		{"broken configuration", func(t *testing.T, r *rig) { write(t, r, "config/cc-cluster.yaml", "cluster:\n  nmae: x\n") }, 1, "correct the file at "},
		{"a configuration that does not parse", func(t *testing.T, r *rig) { write(t, r, "config/cc-cluster.yaml", "cluster: [") }, 1, "fail config"},
		{"a folder open to others", func(t *testing.T, r *rig) { chmod(t, filepath.Join(r.dir, stateFolder), 0o755) }, 0, "warn folder"},
		{"a dead hub", func(_ *testing.T, r *rig) { r.stop() }, 1, "fail hub"},
		{"a broken card", func(t *testing.T, r *rig) { write(t, r, stateFolder+"/hub.json", "{") }, 1, "fail hub"},
		{"a hub with problems", func(_ *testing.T, r *rig) {
			r.hub.Change(func(o *protocol.Overview) { o.Hub.Problems = []string{"disk full"} })
		}, 1, "fail hub       disk full"},
		{"the journal's place is a file", func(t *testing.T, r *rig) { write(t, r, "logs", "x") }, 1, "fail journal"},
		{"a chat without a model", func(*testing.T, *rig) {}, 0, "--   engine    chat: built in, but no model is named\n               set CHAT_MODEL"},
		{"a chat with a model", func(t *testing.T, r *rig) {
			write(t, r, "config/cc-cluster.yaml", "engines: {chat: {env: {CHAT_MODEL: qwen3}}}\n")
		}, 0, "ok   engine    chat: built in\n"},
		{"a chat with a model by the environment", func(_ *testing.T, r *rig) { r.getenv = environment("CHAT_MODEL", "qwen3") }, 0, "ok   engine    chat: built in\n"},
		{"a chat with a model by its command", func(t *testing.T, r *rig) {
			write(t, r, "config/cc-cluster.yaml", "engines: {chat: {command: ['{self}', agent, --engine, chat, --model=qwen3]}}\n")
		}, 0, "ok   engine    chat: built in\n"},
		{"no stream yet", func(*testing.T, *rig) {}, 0, "--   stream    not begun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			tt.spoil(t, r)
			wantRun(t, r, []string{"doctor"}, tt.code, tt.want, "")
		})
	}
}

// TestDoctorIsShutOut closes what it examines; root is never shut out.
func TestDoctorIsShutOut(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	r := newRig(t, nil)
	write(t, r, "config/cc-cluster.yaml", "")
	file, state := filepath.Join(r.dir, "config/cc-cluster.yaml"), filepath.Join(r.dir, stateFolder)
	chmod(t, file, 0)
	chmod(t, state, 0)
	t.Cleanup(func() { chmod(t, state, 0o700) })
	wantRun(t, r, []string{"doctor"}, 1, "make it readable: chmod u+r "+file, "")
	wantRun(t, r, []string{"doctor"}, 1, "make its folder yours: chmod u+rwx "+state, "")
	wantRun(t, r, []string{"status"}, 1, "", "hint:  what is closed to you, and the cure: orchestrator-cc doctor")
}

func TestDoctorWithoutHub(t *testing.T) {
	t.Parallel()
	wantRun(t, quietRig(tempPlace(t)), []string{"doctor"}, 0, "--   hub       not running\n               start it with: orchestrator-cc up", "")
}

func write(t *testing.T, r *rig, name, text string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
