package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator-cc/config"

	"github.com/google/go-cmp/cmp"
)

func TestMistakes(t *testing.T) {
	t.Parallel()
	const boss = "agents:\n- {name: b, role: grand_boss, marker: B OK, command: [cat]}\n"
	tests := []struct {
		name, yaml string
		want       []string // every problem, in order
	}{
		{"tab", "cluster:\n\tname: x\n", []string{"c.yaml:2:1: this is not valid YAML: found character that cannot start any token; indent with blanks, not with tabs"}},
		{"indentation", "cluster:\n  name: x\n work_dir: .\nengine: auto\n", []string{"c.yaml:3:1: this is not valid YAML: did not find expected key; check the indentation and the quotes of this line"}},
		{"open quote", "engine: auto\ncluster:\n  name: \"x\nlayout: panes\n", []string{"c.yaml:3:1: this is not valid YAML: found unexpected end of stream; check the indentation and the quotes of this line"}},
		{"unknown anchor", "engine: *none\n", []string{"c.yaml:1:1: this is not valid YAML: unknown anchor 'none' referenced; check the indentation and the quotes of this line"}},
		{"second document", "engine: auto\n---\nengine: auto\n", []string{`c.yaml:2:1: a second YAML document begins here; keep one, and remove the "---" between them`}},
		{"not an object", "- a\n", []string{`c.yaml:1:1: got a list, want keys with values; write lines of the form "key: value"`}},
		{"unknown key, near", "clustr: {}\n", []string{`c.yaml:1:1: clustr: this key is unknown; did you mean "cluster"?`}},
		{"unknown key, far", "api:\n  qwertyuiop: 1\n", []string{`c.yaml:2:3: api.qwertyuiop: this key is unknown; write one of: listen, tls`}},
		{"unknown key in an agent", boss + "- {name: s, role: specialist_s, markr: S OK, marker: S OK, pane: 1, command: [cat]}\n",
			[]string{`c.yaml:3:33: agents[1].markr: this key is unknown; did you mean "marker"?`, `c.yaml:3:60: agents[1].pane: this key is unknown; did you mean "pane_index"?`}},
		{"merge key", "x: &x {turns: 1}\nlimits:\n  <<: *x\n", []string{
			`c.yaml:1:1: x: this key is unknown; write one of: agents, api, approvals, cluster, engine, engines, journal, layout, limits, permissions, retry, routing, sessions, tmux`,
			`c.yaml:3:3: limits.<<: this key is unknown; merge keys are not supported: write the keys out`}},
		{"repeated key", "engine: auto\nengine: builtin\n", []string{`c.yaml:2:1: engine: this key stands already in line 1; keep one of them`}},
		{"number for text", "cluster: {name: 12}\n", []string{`c.yaml:1:17: cluster.name: got 12, want text; put it in quotes`}},
		{"text for number", "limits: {turns: many}\n", []string{`c.yaml:1:17: limits.turns: got the text "many", want a whole number; write a number from 1 to 1000000`}},
		{"number out of range", "limits: {depth: 0}\n", []string{`c.yaml:1:17: limits.depth: 0 is out of range; write a number from 1 to 100`}},
		{"yes for true", "retry: {jitter: yes}\n", []string{`c.yaml:1:17: retry.jitter: got the text "yes", want true or false; write true or false`}},
		{"duration without unit", "limits: {timeout: 30}\n", []string{`c.yaml:1:19: limits.timeout: "30" is not a duration; write a number with its unit, such as 500ms, 30s or 60m`}},
		{"negative duration", "limits: {timeout: -3s}\n", []string{`c.yaml:1:19: limits.timeout: -3s is out of range; write one from 1ms to 168h0m0s`}},
		{"factor", "retry: {multiplier: .nan}\n", []string{`c.yaml:1:21: retry.multiplier: NaN is out of range; write a number from 1 to 100`}},
		{"layout", "layout: tiles\n", []string{`c.yaml:1:9: layout: "tiles" is not possible here; write one of: panes, windows`}},
		{"language", "cluster: {language: fr}\n", []string{`c.yaml:1:21: cluster.language: "fr" is not possible here; write one of: en, ja`}},
		{"session name", "cluster: {session_name: 'a:b'}\n", []string{`c.yaml:1:25: cluster.session_name: "a:b" cannot name a tmux session; use letters, digits, "_" and "-", at most 48`}},
		{"unknown engine", "engine: clade\n", []string{`c.yaml:1:9: engine: engine "clade" is unknown; did you mean "claude"?`}},
		{"command for all", "engine: command\n", []string{`c.yaml:1:9: engine: "command" cannot be the engine of all agents; give each agent its own "command:" instead`}},
		{"no agents", "agents: []\n", []string{`c.yaml:1:9: agents: there is no agent; add one, or remove "agents:" to get the five default ones`}},
		{"regexp", "engines: {mine: {command: [x], busy: ['(']}}\n", []string{"c.yaml:1:39: engines.mine.busy[0]: \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`; see https://pkg.go.dev/regexp/syntax for what can be written"}},
		{"engine without command", "engines: {mine: {multiline: true}}\n", []string{`c.yaml:1:17: engines.mine.command: the command is empty; write the program and its arguments, such as ["aider", "--no-git"]`}},
		{"engine named auto", "engines: {auto: {command: [x]}}\n", []string{`c.yaml:1:17: engines.auto: "auto" cannot name an engine; use small letters, digits, "_" and "-"; "auto" has a meaning of its own`}},
		{"flag missing", "engines: {mine: {command: [x], personality: flag}}\n", []string{`c.yaml:1:45: engines.mine.personality: personality "flag" needs a flag; add the flag, such as flag: --system-prompt`}},
		{"keys", "engines: {mine: {command: [x], submit: [], interrupt: ['Ctrl C']}}\n", []string{
			`c.yaml:1:40: engines.mine.submit: no key is named; write keys by their tmux names, such as ["Enter"] or ["C-c"]`,
			`c.yaml:1:56: engines.mine.interrupt[0]: "Ctrl C" is not a key; write it by its tmux name, such as "Enter" or "C-c"`}},
		{"command as text", "agents: [{name: b, role: grand_boss, marker: B OK, command: cat -u}]\n", []string{
			`c.yaml:1:61: agents[0].command: got the text "cat -u", want a list; write a list, such as ["one", "two"]`}},
		{"empty command", "agents: [{name: b, role: grand_boss, marker: B OK, command: ['']}]\n", []string{`c.yaml:1:61: agents[0].command: the command is empty; write the program and its arguments, such as ["aider", "--no-git"]`}},
		{"auto with command", "agents: [{name: b, role: grand_boss, marker: B OK, personality_prompt_path: grand_boss.txt, engine: auto, command: [x]}]\n", []string{`c.yaml:1:101: agents[0].engine: a command leaves nothing for auto to choose; name the engine whose command this is, or remove one of the two`}},
		{"environment", "agents: [{name: b, role: grand_boss, marker: B OK, command: [x], env: {A B: 1, TMUX: x, OK: 2, L: [1]}}]\n", []string{
			`c.yaml:1:77: agents[0].env.A B: "A B" cannot name an environment variable; use letters, digits and "_"`,
			`c.yaml:1:86: agents[0].env.TMUX: TMUX is set by the session itself; remove it`,
			`c.yaml:1:99: agents[0].env.L: got a list, want text; put it in quotes`}},
		{"bad role", "agents: [{name: b, role: boss, marker: B OK, command: [x]}]\n", []string{`c.yaml:1:26: agents[0].role: "boss" is not a role; write grand_boss, middle_manager, or specialist_ and a field, such as specialist_testing`}},
		{"bad name", "agents: [{name: My Agent, role: grand_boss, marker: B OK, command: [x]}]\n", []string{`c.yaml:1:17: agents[0].name: "My Agent" cannot name an agent; use small letters, digits, "_" and "-", at most 64, a letter first`}},
		{"reserved name", "agents: [{name: hub, role: grand_boss, marker: B OK, command: [x]}]\n", []string{`c.yaml:1:17: agents[0].name: "hub" has a meaning of its own; choose another name`}},
		{"all missing", "agents:\n- {command: [x]}\n", []string{
			`c.yaml:2:3: agents[0].name: the name is missing; add it, such as name: testing_specialist`,
			`c.yaml:2:3: agents[0].role: the role is missing; write grand_boss, middle_manager, or specialist_ and a field, such as specialist_testing`,
			`c.yaml:2:3: agents[0].marker: the marker is missing; write a few words that no ordinary text has, such as "TESTING OK"`}},
		{"everything twice", boss + "- {name: b, role: grand_boss, marker: b  ok, pane_index: 0, command: [cat]}\n", []string{
			`c.yaml:3:10: agents[1].name: "b" is the name of agents[0] too; give each agent its own name`,
			`c.yaml:3:19: agents[1].role: there can be only one grand_boss, and agents[0] (b) is it already; make one of them a specialist`,
			`c.yaml:3:39: agents[1].marker: "b  ok" is the marker of agents[0] (b) too; give each agent its own marker`,
			`c.yaml:3:58: agents[1].pane_index: pane 0 belongs to agents[0] (b) already; give each agent its own pane`}},
		{"marker inside another", boss + "- {name: s, role: specialist_s, marker: GRAND B OK, command: [cat]}\n", []string{`c.yaml:3:41: agents[1].marker: "GRAND B OK" and "B OK" of agents[0] (b) cannot be told apart; choose markers of which none is part of another`}},
		{"marker is a prefix", boss + "- {name: s, role: specialist_s, marker: B O, command: [cat]}\n", []string{`c.yaml:3:41: agents[1].marker: "B O" and "B OK" of agents[0] (b) cannot be told apart; choose markers of which none is part of another`}},
		{"marker of signs", "agents: [{name: b, role: grand_boss, marker: '───', command: [x]}]\n", []string{`c.yaml:1:46: agents[0].marker: "───" has no letter; write a few words that no ordinary text has, such as "TESTING OK"`}},
		{"marker like a mention", "agents: [{name: b, role: grand_boss, marker: '@b done', command: [x]}]\n", []string{"c.yaml:1:46: agents[0].marker: \"@b done\" has one of the signs < > @ `, which have a meaning in a reply; write a few words that no ordinary text has, such as \"TESTING OK\""}},
		{"no personality", "agents: [{name: b, role: grand_boss, marker: B OK}]\n", []string{`c.yaml:1:10: agents[0].personality_prompt_path: b has no personality, and none is embedded for it; write a brief into a file and name it here`}},
		{"agent's timeout", "agents: [{name: b, role: grand_boss, marker: B OK, command: [x], timeout: 2h}]\n", []string{`c.yaml:1:75: agents[0].timeout: 2h0m0s is more than the hard limit of 1h0m0s; shorten it, or raise limits.hard_limit`}},
		{"approvals", "agents: [{name: b, role: grand_boss, marker: B OK, command: [x], approvals: never}]\n", []string{`c.yaml:1:77: agents[0].approvals: "never" is not possible here; write one of: allow, ask, deny, key`}},
		{"rules", "approvals:\n  default: maybe\n  timeout: 5\n  rules:\n  - {tool: Bash, mach: 'x', decide: allow}\n  - {match: 'x'}\nagents: [{name: b, role: grand_boss, marker: B OK, command: [x], approvals: {rules: [{tool: x, decide: yes}]}}]\n", []string{
			`c.yaml:2:12: approvals.default: "maybe" is not possible here; write one of: allow, ask, deny, key`,
			`c.yaml:3:12: approvals.timeout: "5" is not a duration; write a number with its unit, such as 500ms, 30s or 60m`,
			`c.yaml:5:18: approvals.rules[0].mach: this key is unknown; did you mean "match"?`,
			`c.yaml:6:5: approvals.rules[1].tool: the rule names no tool; name a tool, such as Bash, or "*" for every one`,
			`c.yaml:6:5: approvals.rules[1].decide: the rule decides nothing; write ask, key, allow or deny`,
			`c.yaml:7:104: agents[0].approvals.rules[0].decide: "yes" is not possible here; write one of: allow, ask, deny, key`}},
		{"permissions", "permissions: [{from: bos, to: testing_specialist, types: [requst]}, {from: user, to: role_x}]\n", []string{
			`c.yaml:1:22: permissions[0].from: "bos" is no rank, role or agent; did you mean "boss"?`,
			`c.yaml:1:59: permissions[0].types[0]: "requst" is not a message type; did you mean "request"?`,
			`c.yaml:1:69: permissions[1].types: no message type is named; write a list, such as [request, event]`,
			`c.yaml:1:86: permissions[1].to: "role_x" is no rank, role or agent; write one of: all, boss, coding_writing_specialist, grand_boss, hub, manager, middle_manager, research_analysis_specialist, specialist, specialist_coding_writing, specialist_research_analysis, specialist_testing, testing_specialist, user`}},
		{"socket", "tmux: {socket: a/b}\n", []string{`c.yaml:1:16: tmux.socket: "a/b" cannot name a tmux socket; use letters, digits, "_" and "-"`}},
		{"address", "api: {listen: here}\n", []string{`c.yaml:1:15: api.listen: "here" is not an address; write host and port, such as 127.0.0.1:8000`}},
		{"open to the world", "api: {listen: ':8000'}\n", []string{`c.yaml:1:15: api.listen: :8000 can be reached from other machines, which needs TLS; listen on 127.0.0.1, or add api.tls`}},
		{"a task for nobody", "routing: {chat: grand_bos}\n", []string{`c.yaml:1:17: routing.chat: there is no agent "grand_bos"; did you mean "grand_boss"?`}},
		{"half a certificate", "api: {tls: {cert: a.pem}}\n", []string{`c.yaml:1:12: api.tls: cert and key belong together; name the certificate and its key, or neither`}},
		{"tokens", "limits: {tokens: {day: -1, year: 5}}\nagents: [{name: b, role: grand_boss, marker: B OK, command: [x], tokens: 0}]\n", []string{
			`c.yaml:1:24: limits.tokens.day: -1 is out of range; write a number from 0 to 1000000000000`,
			`c.yaml:1:28: limits.tokens.year: this key is unknown; write one of: agent, day, task`,
			`c.yaml:2:74: agents[0].tokens: 0 is out of range; write a number from 1 to 1000000000000`}},
		{"limits against each other", "retry: {initial: 1m}\nlimits: {timeout: 2h, payload_bytes: 10}\n", []string{
			`c.yaml:1:8: retry.max_delay: 30s is less than the first delay of 1m0s; write at least retry.initial`,
			`c.yaml:2:9: limits.hard_limit: 1h0m0s is less than the timeout of 2h0m0s; write at least limits.timeout`,
			`c.yaml:2:38: limits.payload_bytes: a message of 10 bytes cannot carry a prompt of 4194304; write at least limits.prompt_bytes`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("c.yaml", []byte(tt.yaml), "")
			if diff := cmp.Diff(tt.want, lines(t, err)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func lines(t *testing.T, err error) []string {
	t.Helper()
	var problems *config.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got %v, want *Problems", err)
	}
	return strings.Split(problems.Error(), "\n")
}

func TestMistakesOnDisk(t *testing.T) {
	t.Parallel()
	agent := func(rest string) string {
		return "agents: [{name: b, role: grand_boss, marker: B OK, " + rest + "}]\n"
	}
	tests := []struct {
		name, yaml, want string
	}{
		{"work dir missing", "cluster: {work_dir: gone}\n", "cluster.work_dir: the work dir cannot be used: stat DIR/gone: no such file or directory; make the folder, or write the path of one"},
		{"work dir is a file", "cluster: {work_dir: empty.txt}\n", "cluster.work_dir: the work dir DIR/empty.txt is not a folder; write the path of a folder"},
		{"work dir at home", "cluster: {work_dir: ~/x}\n", `cluster.work_dir: "~" has no meaning here; write the whole path`},
		{"work dir empty", "cluster: {work_dir: ''}\n", `cluster.work_dir: the path is empty; write a path, such as "."`},
		{"brief missing", agent("personality_prompt_path: gone.txt"), "agents[0].personality_prompt_path: personality file DIR/gone.txt does not exist; write the file, or correct the path"},
		{"brief empty", agent("personality_prompt_path: empty.txt"), "agents[0].personality_prompt_path: personality file DIR/empty.txt is empty; write the agent's brief into it"},
		{"brief binary", agent("personality_prompt_path: binary.txt"), "agents[0].personality_prompt_path: personality file DIR/binary.txt is not UTF-8 text; save it as UTF-8"},
		{"brief huge", agent("personality_prompt_path: huge.txt"), "agents[0].personality_prompt_path: personality file DIR/huge.txt has more than 65536 bytes; shorten it"},
		{"brief is a folder", agent("personality_prompt_path: '.'"), "agents[0].personality_prompt_path: personality file: read DIR: is a directory; check the path and its permissions"},
		{"certificate missing", "api: {tls: {cert: gone.pem, key: empty.txt}}\n", "api.tls.cert: open DIR/gone.pem: no such file or directory; check the path and its permissions"},
		{"file too long", "# " + strings.Repeat("x", 1<<20), "the file has more than 1048576 bytes; is this the right file?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, "c.yaml", tt.yaml, "empty.txt", "\n", "binary.txt", "B OK \xff", "huge.txt", strings.Repeat("B OK ", 20000))
			path := filepath.Join(dir, "c.yaml")
			_, err := config.Load(path)
			got := lines(t, err)
			if len(got) != 1 || !strings.HasPrefix(got[0], path+":1:") {
				t.Fatalf("got %q, want one problem in line 1 of %s", got, path)
			}
			want := strings.ReplaceAll(tt.want, "DIR", dir)
			if !strings.HasSuffix(got[0], ": "+want) {
				t.Errorf("got  %s\nwant ...%s", got[0], want)
			}
		})
	}
}

func TestFolderWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("everything is permitted to root")
	}
	dir := write(t, "c.yaml", "cluster: {work_dir: closed}\n", "closed/x", "")
	closed := filepath.Join(dir, "closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	_, err := config.Load(filepath.Join(dir, "c.yaml"))
	if got := lines(t, err); len(got) != 1 || !strings.Contains(got[0], "permission denied") {
		t.Errorf("got %q, want permission denied", got)
	}
}

// A long broken file is not searched line by line; the library's own line must do.
func TestBrokenLongFile(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("# filler\n", 600) + "cluster:\n  name: 'x\n"
	_, err := config.Parse("c.yaml", []byte(text), "")
	got := lines(t, err)
	if len(got) != 1 || !strings.HasPrefix(got[0], "c.yaml:60") || !strings.HasSuffix(got[0], "near this line") {
		t.Errorf("got %q, want one problem near line 602", got)
	}
}

func TestAliasesCannotMultiply(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("agents:\n- &a {name: b, role: grand_boss, marker: B OK, command: [x]}\n")
	for range 2000 {
		fmt.Fprintln(&b, "- *a")
	}
	_, err := config.Parse("c.yaml", []byte(b.String()), "")
	if got := lines(t, err); !strings.Contains(got[0], "got 2001 items, at most 1000 are possible") {
		t.Errorf("got %q, want a bound", got[0])
	}
}
