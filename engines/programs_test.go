package engines

import (
	"encoding/json"
	"strings"
)

// program is a real agent program: how it is pointed at the scripted model, and
// what it can do.
type program struct {
	name      string
	installed bool // by scripts/engines.sh; one of ours is not
	// prepare writes what the program wants to find in its home and returns
	// the environment it needs.
	prepare func(*company) map[string]string
	channel bool // it tells the exact answer
	most    int  // bytes of a prompt it takes; 0 is any
	// retypes is what its composer makes of some characters: pairs of old and new.
	retypes []string
	resumes bool     // it goes on with its conversation after a crash
	mends   bool     // it can be asked for a forgotten marker
	files   []string // of the user, in the home, which must stay as they are
	own     string   // what stands in them
	// distrust makes it ask whether the folder is trusted, nil where it never
	// does; the first choice is yes.
	distrust func(*company)
	shell    func(command string) (tool string, input any)
}

const apiKey = "sk-ant-loopback-0123456789abcdef"

func claude() program {
	return program{
		name: "claude", installed: true, channel: true,
		prepare: func(c *company) map[string]string {
			c.write("home/.claude.json", encode(map[string]any{
				"hasCompletedOnboarding": true, "theme": "dark",
				"customApiKeyResponses": map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}},
				"projects":              map[string]any{c.project: map[string]any{"hasTrustDialogAccepted": true}},
			}))
			return map[string]string{
				"ANTHROPIC_BASE_URL": c.model.URL, "ANTHROPIC_API_KEY": apiKey,
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
			}
		},
		retypes: []string{"\t", "    "},
		resumes: true, mends: true,
		files: []string{".claude/settings.json", ".claude/CLAUDE.md"}, own: "{}\n",
		distrust: func(c *company) {
			c.write("home/.claude.json", encode(map[string]any{
				"hasCompletedOnboarding": true, "theme": "dark",
				"customApiKeyResponses": map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}},
			}))
		},
		shell: func(command string) (string, any) {
			return "Bash", map[string]any{"command": command, "description": "a test"}
		},
	}
}

func (p program) retyped(text string) string { return strings.NewReplacer(p.retypes...).Replace(text) }

func encode(value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data)
}

func programs() []program { return []program{claude()} }
