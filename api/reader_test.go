package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

// TestReadersReadAlong shows an answer while it is being written: the first
// part comes before anything else happens to the task, one who comes later gets
// all of it at once, and nothing follows the end.
func TestReadersReadAlong(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, _ := serve(t, hub, api.Options{})
	client := api.NewClient(socket, "")
	defer client.Close()
	receipt, err := client.Post(t.Context(), request("grand_boss", "write slowly"), false)
	if err != nil {
		t.Fatal(err)
	}
	writing := protocol.Writing{Agent: "grand_boss", Task: receipt.TaskID, Turn: "aaaaaa", Exact: true}
	write := func(text string) {
		writing.Text = text
		hub.Write(writing)
	}
	write("いろは")
	parts := make(chan protocol.Part, 100)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan bool, 1)
	go func() {
		for e := range client.WatchWriting(ctx, receipt.TaskID, receipt.Seq, func(p protocol.Part) { parts <- p }) {
			if e.Message != nil && e.Message.Closing != nil {
				ended <- true
				return
			}
		}
		ended <- false
	}()
	next := func() protocol.Part {
		t.Helper()
		select {
		case p := <-parts:
			return p
		case <-ctx.Done():
			t.Fatal("got no part before the end")
			return protocol.Part{}
		}
	}
	want := protocol.Part{TaskID: receipt.TaskID, Agent: "grand_boss", Text: "いろは", Exact: true}
	if diff := cmp.Diff(want, next()); diff != "" {
		t.Errorf("first part (-want +got):\n%s", diff)
	}
	write("いろはにほへと")
	want.Offset, want.Text = 3, "にほへと"
	if diff := cmp.Diff(want, next()); diff != "" {
		t.Errorf("second part (-want +got):\n%s", diff)
	}
	for i := range 1000 {
		write(strings.Repeat("x", i+1))
	}
	text := "いろはにほへと"
	for text != strings.Repeat("x", 1000) {
		p := next()
		text = string([]rune(text)[:p.Offset]) + p.Text
	}
	if n := len(parts); n > 10 {
		t.Errorf("got %d parts more, want them coalesced", n)
	}
	writing.Text = ""
	hub.Write(writing)
	hub.Reply(receipt.TaskID, "done")
	if !<-ended || len(parts) > 0 {
		t.Errorf("got %d parts after the end, want none", len(parts))
	}
}

// TestPartsHaveNoID keeps Last-Event-ID what it was: the last entry.
func TestPartsHaveNoID(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	p := openPort(t, hub, api.Options{})
	s := &spy{name: "alone", key: p.key("one"), session: "s"}
	task := p.submit(s)
	hub.Write(protocol.Writing{Agent: "grand_boss", Task: task, Turn: "a", Text: "half a wo"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+"/tasks/"+task+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	want := "event: part\ndata: " + fmt.Sprintf(`{"taskId":%q,"agent":"grand_boss","offset":0,"text":"half a wo","exact":false}`, task) + "\n\n"
	got := ""
	for buffer := make([]byte, 1<<16); !strings.Contains(got, "half a wo"); {
		n, err := resp.Body.Read(buffer)
		if got += string(buffer[:n]); err != nil {
			t.Fatalf("got %q: %v, want a part", got, err)
		}
	}
	if at := strings.Index(got, want); at < 0 || strings.Contains(got[at:], "id: ") {
		t.Errorf("got %q, want %q in it, and no id", got, want)
	}
}

// TestPartsInAWindow words parts as frames.
func TestPartsInAWindow(t *testing.T) {
	t.Parallel()
	hub := apitest.New(func(h *apitest.Hub, in protocol.Accepted) {
		h.Write(protocol.Writing{Agent: "grand_boss", Task: in.Message.ID(), Turn: "a", Text: "half", Exact: true})
	})
	p := openPort(t, hub, api.Options{})
	w := p.window(p.key("one"), "")
	w.hear()
	w.say(`{"type":"submitUserInput","payload":{"text":"go"}}`)
	for {
		f := w.hear()
		if f.Type != "onMessagePart" {
			continue
		}
		if p := f.Payload; p["content"] != "half" || p["agent"] != "grand_boss" || p["exact"] != true || p["offset"] != 0.0 || p["taskId"] == "" || p["sessionId"] == "" {
			t.Errorf("got %v, want the part", p)
		}
		return
	}
}
