package tmux_test

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"orchestrator-cc/tmux"
	"orchestrator-cc/tmux/tmuxtest"
)

func BenchmarkCapture(b *testing.B) {
	_, pane := tmuxtest.Start(b, "sh", "-c", "seq 1 5000; exec cat")
	for b.Loop() {
		if _, err := pane.Capture(b.Context(), 200); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPaste(b *testing.B) {
	_, pane := tmuxtest.Start(b, "sh", "-c", "stty raw -echo; exec cat >/dev/null")
	parts := [][]byte{[]byte("req-1"), bytes.Repeat([]byte("x"), 1<<10), []byte("end")}
	for b.Loop() {
		if err := pane.Paste(b.Context(), "note", parts...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWake is the time from a program's print to the notice.
func BenchmarkWake(b *testing.B) {
	o := tmuxtest.Options(b)
	s := tmux.New(o)
	panes, err := s.Build(b.Context(), five())
	if err != nil {
		b.Fatal(err)
	}
	tmuxtest.Run(b, s)
	out := s.Pane(panes[1]).Output()
	tty, err := os.OpenFile(raw(b, o, "display-message", "-p", "-t", panes[1].ID, "#{pane_tty}"), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer tty.Close()
	for b.Loop() {
		if _, err := tty.WriteString("x"); err != nil {
			b.Fatal(err)
		}
		<-out
	}
}

func BenchmarkBuild(b *testing.B) {
	s := tmux.New(tmuxtest.Options(b))
	for b.Loop() {
		if _, err := s.Build(b.Context(), five()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
