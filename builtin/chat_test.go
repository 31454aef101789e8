package builtin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/builtin"
	"orchestrator-cc/engines/modeltest"
	"orchestrator-cc/protocol"
)

const chatMarker = "RESEARCH OK"

// chats are a chat in each format, against one model.
func chats(m *modeltest.Server) map[string]*builtin.Chat {
	brief := "You are kind. End with " + chatMarker
	return map[string]*builtin.Chat{
		"ollama":      {Model: builtin.Model{URL: m.URL, Name: "m"}, Brief: brief, Marker: chatMarker, Client: http.DefaultClient},
		"completions": {Model: builtin.Model{URL: m.URL + "/v1", OpenAI: true, Name: "m", Key: "secret"}, Brief: brief, Marker: chatMarker, Client: http.DefaultClient},
	}
}

func TestChatRemembers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("一行の答え、`code` <x>\n", 500)
	m := modeltest.New(t, func(c modeltest.Call) modeltest.Turn {
		return modeltest.Turn{Text: long + c.Prompt() + "\n" + chatMarker + " <abc>"}
	})
	for format, chat := range chats(m) {
		t.Run(format, func(t *testing.T) {
			said := 0
			for _, body := range []string{"first", "second"} {
				got, err := chat.Reply(t.Context(), protocol.Prompt{Req: "abc", From: "user", Body: body}, func(string) { said++ })
				if err != nil {
					t.Fatal(err)
				}
				want := []protocol.Usage{{Model: "m", Tokens: protocol.Tokens{Input: 10, Output: int64(1 + len(long+body+"\n"+chatMarker+" <abc>")/4)}}}
				if diff := cmp.Diff(want, chat.Spent()); diff != "" {
					t.Errorf("tokens (-want +got):\n%s", diff)
				}
				if want := long + body; got != want {
					t.Errorf("got %.60q (%d bytes), want %.60q (%d bytes)", got, len(got), want, len(want))
				}
			}
			if said == 0 {
				t.Error("got nothing shown while the model spoke, want its lines")
			}
			calls := m.Calls()
			last := calls[len(calls)-1]
			answer := long + "first\n" + chatMarker + " <abc>"
			want := []modeltest.Said{{Role: "user", Text: "first"}, {Role: "assistant", Text: answer}, {Role: "user", Text: "second"}}
			if diff := cmp.Diff(want, last.Turns); diff != "" {
				t.Errorf("conversation (-want +got):\n%s", diff)
			}
			if last.Format != format || last.System != chat.Brief {
				t.Errorf("got %s with system text %q, want %s with the brief", last.Format, last.System, format)
			}
			if got := last.Header.Get("Authorization"); (got == "Bearer secret") != (format == "completions") {
				t.Errorf("got authorization %q", got)
			}
		})
	}
}

func TestChatFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		turn modeltest.Turn
		want string
	}{
		{"rate limit", modeltest.Turn{Status: 429, Error: "slow down"}, "slow down"},
		{"broken", modeltest.Turn{Status: 500, Error: "it broke"}, "it broke"},
		{"breaks off", modeltest.Turn{Text: strings.Repeat("x", 4000), Broken: true}, "broke off"},
	}
	for _, tt := range tests {
		m := modeltest.New(t, func(modeltest.Call) modeltest.Turn { return tt.turn })
		for format, chat := range chats(m) {
			t.Run(tt.name+"/"+format, func(t *testing.T) {
				_, err := chat.Reply(t.Context(), protocol.Prompt{Body: "hello"}, func(string) {})
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("got error %v, want %q", err, tt.want)
				}
				m.Follow(func(modeltest.Call) modeltest.Turn { return modeltest.Turn{Text: "fine"} })
				if got, err := chat.Reply(t.Context(), protocol.Prompt{Body: "again"}, func(string) {}); err != nil || got != "fine" {
					t.Errorf("after a failure: got %q, %v, want fine", got, err)
				}
				if calls := m.Calls(); len(calls[len(calls)-1].Turns) != 1 {
					t.Errorf("got the failed turn in the conversation, want it left out")
				}
				m.Follow(func(modeltest.Call) modeltest.Turn { return tt.turn })
			})
		}
	}
}

// What a person can mend is said with its cure.
func TestChatSaysWhatHelps(t *testing.T) {
	t.Parallel()
	turn := modeltest.Turn{}
	m := modeltest.New(t, func(modeltest.Call) modeltest.Turn { return turn })
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	gone := &modeltest.Server{URL: dead.URL}
	for _, tt := range []struct {
		name   string
		model  *modeltest.Server
		status int
		want   map[string]string // by format
	}{
		{"nothing listens", gone, 0, map[string]string{"ollama": "ollama serve", "completions": "CHAT_URL"}},
		{"no such model", m, 404, map[string]string{"ollama": "ollama pull m", "completions": "no such model"}},
		{"no key", m, 401, map[string]string{"ollama": "CHAT_KEY", "completions": "CHAT_KEY"}},
	} {
		turn = modeltest.Turn{Status: tt.status, Error: "no"}
		for format, chat := range chats(tt.model) {
			_, err := chat.Reply(t.Context(), protocol.Prompt{Body: "hello"}, func(string) {})
			if err == nil || !strings.Contains(err.Error(), tt.want[format]) {
				t.Errorf("%s, %s: got error %v, want %q", tt.name, format, err, tt.want[format])
			}
		}
	}
}

func TestChatIsInterrupted(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, func(modeltest.Call) modeltest.Turn { return modeltest.Turn{After: time.Minute} })
	chat := chats(m)["ollama"]
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := chat.Reply(ctx, protocol.Prompt{Body: "hello"}, func(string) {}); err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("got %v after %s, want an error at once", err, time.Since(began))
	}
}
