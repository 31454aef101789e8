package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orchestrator-cc/config"
	"orchestrator-cc/protocol"
)

// taken is what a report says, in short.
type taken struct {
	Req, ID, Model string
	protocol.Tokens
	Failed string
}

func TestMeterReadsBooks(t *testing.T) {
	t.Parallel()
	const at = `"timestamp":"2026-02-01T10:00:00Z"`
	ours := protocol.Tag("abcdefgh", "user") + `\ndo it`
	tests := []struct {
		hooks string
		lines []string
		want  []taken
	}{
		{config.HooksClaude, []string{
			`{"type":"assistant","timestamp":"2026-01-01T10:00:00Z","message":{"id":"old","usage":{"input_tokens":5}}}`,
			`{"type":"user",` + at + `,"message":{"content":"` + ours + `"}}`,
			`{"type":"assistant",` + at + `,"requestId":"r","message":{"id":"m1","model":"big","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}}`,
			`{"type":"assistant",` + at + `,"requestId":"r","message":{"id":"m1","model":"big","usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":3,"output_tokens":70}}}`,
			`{"type":"user",` + at + `,"message":{"content":[{"type":"tool_result","content":"x"}]}}`,
			`{"type":"user","isMeta":true,` + at + `,"message":{"content":"Your reply does not end with your marker."}}`,
			`{"type":"assistant",` + at + `,"message":{"id":"m2","model":"big","usage":{"input_tokens":1,"output_tokens":2}}}`,
			`{"type":"assistant",` + at + `,"message":{"id":"e","model":"<synthetic>","usage":{"input_tokens":0,"output_tokens":0}}}`,
			`{"type":"system",` + at + `}`, `no line of theirs`,
			`{"type":"user",` + at + `,"message":{"content":[{"type":"text","text":"a person speaks"}]}}`,
			`{"type":"assistant",` + at + `,"message":{"id":"m3","model":"big","usage":{"input_tokens":4}}}`,
		}, []taken{
			{Req: "abcdefgh", ID: "m1r", Model: "big", Tokens: protocol.Tokens{Input: 15, Cached: 3, Output: 70}},
			{Req: "abcdefgh", ID: "m2", Model: "big", Tokens: protocol.Tokens{Input: 1, Output: 2}},
			{ID: "m3", Model: "big", Tokens: protocol.Tokens{Input: 4}},
		}},
		{config.HooksCodex, []string{
			`{"type":"turn_context",` + at + `,"payload":{"model":"gpt"}}`,
			`{"type":"response_item",` + at + `,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + ours + `"}]}}`,
			`{"type":"response_item",` + at + `,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}`,
			`{"type":"token_usage_record",` + at + `,"payload":{"response_id":"resp_1","usage":{"input_tokens":1230,"cached_input_tokens":30,"output_tokens":4}}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"task_complete","last_agent_message":"done"}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"task_complete","last_agent_message":null,"error":{"message":"no quota","codex_error_info":"usage_limit_exceeded"}}}`,
			`{"type":"response_item",` + at + `,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a person speaks"}]}}`,
			`{"type":"event_msg",` + at + `,"payload":{"type":"task_complete","error":{"message":"he saw it himself"}}}`,
		}, []taken{
			{Req: "abcdefgh", ID: "resp_1", Model: "gpt", Tokens: protocol.Tokens{Input: 1200, Cached: 30, Output: 4}},
			{Req: "abcdefgh", Failed: "the model gave no answer: no quota"},
		}},
		{config.HooksGemini, []string{
			`{"id":"u","type":"user",` + at + `,"content":[{"text":"` + ours + `"}]}`,
			`{"id":"g","type":"gemini",` + at + `,"model":"pro","content":"x"}`,
			`{"id":"g","type":"gemini",` + at + `,"model":"pro","content":"x","tokens":{"input":1230,"cached":30,"output":4,"thoughts":6,"total":1240}}`,
			`{"$set":{"lastUpdated":"x"}}`,
		}, []taken{{Req: "abcdefgh", ID: "g", Model: "pro", Tokens: protocol.Tokens{Input: 1200, Cached: 30, Output: 10}}}},
	}
	for _, tt := range tests {
		t.Run(tt.hooks, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			book := filepath.Join(dir, "book.jsonl")
			p := Program{Agent: "a", Folder: dir}
			if err := p.remember(memory{Session: "s", Transcript: book, Since: time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)}); err != nil {
				t.Fatal(err)
			}
			m, now := NewMeter(tt.hooks, dir), time.Now()
			var got []taken
			take := func(reports []protocol.Report) {
				for _, r := range reports {
					if r.Event == protocol.ReportFailed {
						got = append(got, taken{Req: r.Req, Failed: r.Text})
						continue
					}
					got = append(got, taken{Req: r.Req, ID: r.Usage.ID, Model: r.Usage.Model, Tokens: r.Usage.Tokens})
				}
			}
			take(m.News(now)) // there is no book yet
			for i := range tt.lines {
				if err := os.WriteFile(book, []byte(strings.Join(tt.lines[:i+1], "\n")+"\n"+"half a li"), 0o600); err != nil {
					t.Fatal(err)
				}
				take(m.News(now))
			}
			take(m.News(now.Add(time.Minute))) // nothing follows the last answer
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("line by line (-want +got):\n%s", diff)
			}
			got = nil
			again := NewMeter(tt.hooks, dir)
			take(again.News(now))
			take(again.News(now.Add(time.Minute)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
		})
	}
}

// What subagents take is their agent's, for the turn that runs, wherever their
// program keeps their books.
func TestMeterReadsSubagents(t *testing.T) {
	t.Parallel()
	asked := protocol.Tag("abcdefgh", "user") + `\nx`
	for _, tt := range []struct{ hooks, book, side, prompt, took string }{
		{config.HooksClaude, "s.jsonl", "s/subagents/agent-1.jsonl",
			`{"type":"user","message":{"content":"` + asked + `"}}`,
			`{"type":"assistant","isSidechain":true,"message":{"id":"m","usage":{"output_tokens":9}}}` + "\n" + `{"type":"system"}`},
		{config.HooksCodex, "rollout-1.jsonl", "rollout-2.jsonl",
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + asked + `"}]}}`,
			`{"type":"token_usage_record","payload":{"response_id":"r","usage":{"output_tokens":9}}}`},
		{config.HooksGemini, "session-2026-02-01T10-00-01a1de6d.jsonl", "01a1de6d-b3b6-7013-a212-ecfb512d4e4d/sub.jsonl",
			`{"type":"user","content":"` + asked + `"}`,
			`{"id":"g","type":"gemini","tokens":{"output":9}}`},
	} {
		dir := t.TempDir()
		book, side := filepath.Join(dir, tt.book), filepath.Join(dir, tt.side)
		known := memory{Transcript: book}
		if tt.hooks == config.HooksCodex { // its hooks tell
			known.beside(side)
		}
		if err := (Program{Folder: dir}).remember(known); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(side), 0o700); err != nil {
			t.Fatal(err)
		}
		for path, line := range map[string]string{book: tt.prompt, side: tt.took} {
			if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := NewMeter(tt.hooks, dir).News(time.Now())
		if len(got) != 1 || got[0].Req != "abcdefgh" || got[0].Usage.Output != 9 {
			t.Errorf("%s: got %+v, want what the subagent took, for the request", tt.hooks, got)
		}
	}
}

func TestNoMeter(t *testing.T) {
	t.Parallel()
	for _, hooks := range []string{config.HooksNone, config.HooksOpenCode} {
		if NewMeter(hooks, t.TempDir()) != nil {
			t.Errorf("%q: got a meter, want none", hooks)
		}
	}
}
