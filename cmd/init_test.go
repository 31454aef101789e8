package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/config"
)

func TestInit(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ja"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			r := quietRig(tempPlace(t))
			wantRun(t, r, []string{"init", "--lang", lang}, 0, "wrote   config/cc-cluster.yaml", "orchestrator-cc up")
			cfg, err := config.Load(filepath.Join(r.dir, "config", "cc-cluster.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Cluster.Language != lang || len(cfg.Agents) != 5 {
				t.Errorf("got language %s and %d agents, want %s and 5", cfg.Cluster.Language, len(cfg.Agents), lang)
			}
			for _, a := range cfg.Agents {
				if !strings.HasPrefix(a.PersonalityPath, r.dir) {
					t.Errorf("%s: got brief %q, want the file that was written", a.Name, a.PersonalityPath)
				}
			}
		})
	}
}

func TestInitKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	r := quietRig(tempPlace(t))
	path := filepath.Join(r.dir, "config", "cc-cluster.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantRun(t, r, []string{"init"}, 0, "kept    config/cc-cluster.yaml", "")
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("got %q, want the file untouched", got)
	}
	wantRun(t, r, []string{"init", "--force"}, 0, "wrote   config/cc-cluster.yaml  (the old one is config/cc-cluster.yaml.bak)", "")
	if got, _ := os.ReadFile(path); string(got) == "mine" {
		t.Error("got the old file, want it replaced by --force")
	}
	if err := os.WriteFile(path, []byte("mine again"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantRun(t, r, []string{"init", "--force"}, 0, "(the old one is config/cc-cluster.yaml.bak2)", "")
	for name, want := range map[string]string{".bak": "mine", ".bak2": "mine again"} {
		if got, _ := os.ReadFile(path + name); string(got) != want {
			t.Errorf("got %q in the backup %s, want %q", got, name, want)
		}
	}
	wantRun(t, r.again(), []string{"init", "--force"}, 0, "kept    config/cc-cluster.yaml\n", "")
	wantRun(t, r, []string{"init", "--lang", "xx"}, exitUsage, "", "use en or ja")
}
