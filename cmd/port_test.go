package cmd

import (
	"net"
	"strings"
	"testing"

	"orchestrator-cc/config"
)

// TestPortInUse says what to do in the error itself.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := openPort(hubOptions{listen: l.Addr().String()}, config.Config{})
	if err == nil {
		p.Close()
		t.Fatal("got a port that somebody else listens on")
	}
	if want := "choose another port with --port, or in api.listen of the configuration"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
}
