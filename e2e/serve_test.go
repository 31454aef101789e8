package e2e

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// said collects what a running program prints.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestServe runs the hub in the foreground: it answers its first prompt on
// stdout, serves programs with a key, and Ctrl-C ends everything.
func TestServe(t *testing.T) {
	t.Parallel()
	c := newProject(t, apiConfig)
	serve := c.command("serve", "--port", "0", "--prompt", "/say first things first")
	var out, diag said
	serve.Stdout, serve.Stderr = &out, &diag
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	for limit := time.Now().Add(60 * time.Second); !strings.Contains(out.String(), "GRAND BOSS OK"); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("serve ended: %v\n%s", err, diag.String())
		default:
		}
		if time.Now().After(limit) {
			_ = serve.Process.Kill()
			t.Fatalf("got %q and %q, want the first answer", out.String(), diag.String())
		}
	}
	if got := out.String(); got != "first things first\nGRAND BOSS OK\n" {
		t.Errorf("got %q on stdout, want the answer and nothing else", got)
	}
	key := strings.TrimSpace(c.run("keys", "add", "far", "--scope", "read", "--scope", "submit"))
	far := c.command("send", "grand_boss", "/say from afar")
	far.Dir = t.TempDir()
	far.Env = append(far.Env, "ORCHESTRATOR_CC_URL="+c.address(), "ORCHESTRATOR_CC_KEY="+key)
	if answer, err := far.Output(); err != nil || string(answer) != "from afar\nGRAND BOSS OK\n" {
		t.Errorf("got %q, %v, want the answer from afar", answer, err)
	}
	if out, err := c.command("serve", "--port", "0").CombinedOutput(); err == nil || !strings.Contains(string(out), "already") {
		t.Errorf("got %q, %v, want a second hub refused", out, err)
	}
	if err := serve.Process.Signal(os.Signal(syscall.SIGINT)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("got %v, want an orderly end\n%s", err, diag.String())
		}
	case <-time.After(60 * time.Second):
		_ = serve.Process.Kill()
		t.Fatal("serve goes on after Ctrl-C")
	}
	if _, there := c.card(); there {
		t.Error("got a card left behind, want everything ended")
	}
}

// TestSelfMadeCertificate serves with a certificate of its own making, which a
// client knows by its fingerprint.
func TestSelfMadeCertificate(t *testing.T) {
	t.Parallel()
	c := newProject(t, apiConfig+"api: {listen: \"127.0.0.1:0\", tls: {self_made: true}}\n")
	shown := c.run("up")
	_, rest, found := strings.Cut(shown, "SHA-256 ")
	if !found {
		t.Fatalf("got %q, want the fingerprint", shown)
	}
	key := strings.TrimSpace(c.run("keys", "add", "far", "--scope", "read", "--scope", "submit"))
	for _, tt := range []struct{ name, fingerprint, want string }{
		{"the right one", strings.Fields(rest)[0], "hello\nGRAND BOSS OK\n"},
		{"none", "", ""},
		{"another", strings.Repeat("00", 32), ""},
	} {
		far := c.command("send", "grand_boss", "/say hello")
		far.Dir = t.TempDir()
		far.Env = append(far.Env, "ORCHESTRATOR_CC_URL="+c.address(), "ORCHESTRATOR_CC_KEY="+key, "ORCHESTRATOR_CC_FINGERPRINT="+tt.fingerprint)
		var diag bytes.Buffer
		far.Stderr = &diag
		out, err := far.Output()
		if tt.name == "none" && !strings.Contains(diag.String(), "set ORCHESTRATOR_CC_FINGERPRINT") {
			t.Errorf("got %q, want how to trust it", diag.String())
		}
		if string(out) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %q, %v, want %q", tt.name, out, err, tt.want)
		}
	}
}
