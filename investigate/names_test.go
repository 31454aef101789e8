package investigate

import "testing"

func TestWordsArePartsOfNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		word string
		yes  []string
		no   []string
	}{
		{"hello", []string{"hello", "sayHello", "Hello", "HELLO_WORLD", "hello_world", "x.hello()", "hello2", "hellos"}, []string{"shellOf", "othello", "SHELLOUT", "Othello"}},
		{"retry", []string{"RetryPolicy", "maxRetries", "retried", "retrying", "RETRY", "doRetry2"}, []string{"entry", "retrieve", "registRetryx"}},
		{"policies", []string{"retryPolicy", "POLICIES", "policy_of"}, []string{"police"}},
		{"stopped", []string{"Stop", "stopping", "isStopped"}, []string{"unstoppable", "stopgap"}},
		{"parsing", []string{"parse", "Parser", "ParseCommand", "isParsed"}, []string{"sparse"}},
		{"log", []string{"log", "Logger", "LOG_FILE", "logs", "openLog"}, []string{"login", "catalog", "dialog", "logic"}},
		{"http", []string{"HTTPServer", "net/http", "isHTTP", "httpGet"}, []string{"HTTPSERVER"}},
		{"receiv-", []string{"Receiver", "receive", "onReceiving"}, []string{"preceiv"}},
		{"retry policy", []string{"RetryPolicy", "newRetryPolicy", "retry_policies", "RETRY_POLICY", "the retry policy."}, []string{"PolicyRetry", "entryPolicy"}},
		{"計算", []string{"計算する", "税の計算"}, []string{"計"}},
	}
	for _, tt := range tests {
		t.Run(tt.word, func(t *testing.T) {
			t.Parallel()
			p, err := compilePattern("", false, false, tt.word)
			if err != nil {
				t.Fatal(err)
			}
			count := func(text string) int {
				n := 0
				p.searcher().lines([]byte(text), func(_, _, _ int) bool { n++; return true })
				return n
			}
			for _, name := range tt.yes {
				if count("x\n"+name+"\n") != 1 || !p.re.MatchString(name) {
					t.Errorf("got no match in %q, want one", name)
				}
			}
			for _, name := range tt.no {
				if count(name) != 0 || p.re.MatchString(name) {
					t.Errorf("got a match in %q, want none", name)
				}
			}
		})
	}
}

func TestSeveralWordsAndAPattern(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.go": "package a\n\nfunc shellOf() {}\nfunc sayHello() {}\nfunc RetryPolicy() {}\nfunc exactly() {}\n"})
	q := SignatureQuery{Pattern: "^exactly$", Words: []string{"hello", "retry policy", "policy"}}
	res, err := r.Signatures(t.Context(), q)
	if err != nil || res.Total != 3 {
		t.Errorf("got %+v, %v, want three declarations", res.Signatures, err)
	}
	if got := grep(t, r, GrepQuery{Pattern: "exactly", Words: q.Words}).Total; got != 3 {
		t.Errorf("got %d lines, want 3", got)
	}
	q.Words = make([]string, maxWords+1)
	for i := range q.Words {
		q.Words[i] = "word"
	}
	if _, err := r.Signatures(t.Context(), q); err == nil {
		t.Error("got no error for too many words")
	}
}

func TestWordIsPlacedWhereItBegins(t *testing.T) {
	t.Parallel()
	r := writeTree(t, map[string]string{"a.go": "package a\n\nvar x, hello = 1, 2\n"})
	if got := grep(t, r, GrepQuery{Words: []string{"hello"}}).Hits; len(got) != 1 || got[0].Column != 8 {
		t.Errorf("got %+v, want one hit in column 8", got)
	}
}
