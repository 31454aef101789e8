package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Engines that the program itself knows by name.
const (
	Auto    = "auto"    // the best one that is installed
	Builtin = "builtin" // the engine inside this binary, which is always there
	Custom  = "command" // any program, by an agent's command alone
)

// Self stands in a command for the running binary.
const Self = "{self}"

// preferred is what Auto picks where it is installed.
const preferred = "claude"

// mostSettle is far more than the slowest program needs to take in a paste, and
// mostStart than it needs to start.
const (
	mostSettle = time.Minute
	mostStart  = time.Hour
)

var (
	engineName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	keyName    = regexp.MustCompile(`^([CMS]-)*[!-~][A-Za-z0-9]*$`)
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// readEngines reads engines over those of the same name; a new one starts as
// the profile of an arbitrary program.
func readEngines(at cursor, engines map[string]Engine) {
	at.entries(func(key *yaml.Node, value cursor) {
		if !isNull(value.node) {
			engines[key.Value] = readEngine(value, key.Value, engines)
		}
	})
}

func readEngine(at cursor, name string, engines map[string]Engine) Engine {
	e, ok := engines[name]
	if !ok {
		e = engines[Custom]
		e.Name = name
	}
	at.object(fields{
		"command":     words(&e.Command),
		"env":         pairs(&e.Env),
		"unset":       words(&e.Unset),
		"personality": choice(&e.Personality, ByFlag, ByFile, ByPaste, ByHooks, ByNone),
		"flag":        text(&e.Flag),
		"ready":       patterns(&e.Ready),
		"busy":        patterns(&e.Busy),
		"dialog":      patterns(&e.Dialog),
		"signed_out":  patterns(&e.SignedOut),
		"answers":     dialogAnswers(&e.Answers),
		"allow_once":  dialogAnswer(&e.AllowOnce),
		"composer":    patterns(&e.Composer),
		"footer":      patterns(&e.Footer),
		"hint":        patterns(&e.Hint),
		"wall":        patterns(&e.Wall),
		"waits":       patterns(&e.Waits),
		"failed":      patterns(&e.Failed),
		"submit":      words(&e.Submit),
		"interrupt":   words(&e.Interrupt),
		"max_prompt":  number(&e.MaxPrompt, 0, mostSize),
		"multiline":   toggle(&e.Multiline),
		"boxed":       toggle(&e.Boxed),
		"one_paste":   toggle(&e.OnePaste),
		"start":       duration(&e.Start, time.Second, mostStart),
		"settle":      duration(&e.Settle, 0, mostSettle),
		"alternate":   toggle(&e.Alternate),
		"channel":     choice(&e.Channel, ChannelNone, ChannelSpool),
		"trust_hooks": toggle(&e.TrustHooks),
		"tested":      text(&e.Tested),
		"forget":      text(&e.Forget),
		"hooks":       choice(&e.Hooks, HooksNone, HooksClaude, HooksCodex, HooksGemini, HooksOpenCode),
	})
	return e
}

func dialogAnswers(dst *[]DialogAnswer) field {
	return func(at cursor) {
		list := []DialogAnswer{}
		at.items(func(_ int, item cursor) {
			var a DialogAnswer
			dialogAnswer(&a)(item)
			list = append(list, a)
		})
		*dst = list
	}
}

func dialogAnswer(dst *DialogAnswer) field {
	return func(at cursor) {
		at.object(fields{"dialog": pattern(&dst.Dialog), "keys": words(&dst.Keys)})
	}
}

// checkEngine looks at what only makes sense together.
func (d *document) checkEngine(path string, e Engine) {
	if e.Name == Auto || !engineName.MatchString(e.Name) {
		d.complain(path, `use small letters, digits, "_" and "-"; "auto" has a meaning of its own`, "%q cannot name an engine", e.Name)
	}
	if e.Name != Custom {
		d.checkCommand(path+".command", e.Command)
	}
	if (e.Personality == ByFlag || e.Personality == ByFile) && e.Flag == "" {
		d.complain(path+".personality", "add the flag, such as flag: --system-prompt", "personality %q needs a flag", e.Personality)
	}
	if e.Personality == ByHooks && e.Hooks == HooksNone {
		d.complain(path+".personality", "say whose hooks it has, such as hooks: codex", "personality %q needs hooks", e.Personality)
	}
	d.checkKeys(path+".submit", e.Submit)
	d.checkKeys(path+".interrupt", e.Interrupt)
	for i, a := range e.Answers {
		at := fmt.Sprintf("%s.answers[%d]", path, i)
		if a.Dialog == "" {
			d.complain(at, "add a line of the dialog, such as dialog: 'Do you trust'", "it does not say which dialog is meant")
		}
		d.checkKeys(at+".keys", a.Keys)
	}
	if e.AllowOnce.Dialog != "" {
		d.checkKeys(path+".allow_once.keys", e.AllowOnce.Keys)
	}
	d.checkEnv(path+".env", slices.Collect(maps.Keys(e.Env)))
	d.checkEnv(path+".unset", e.Unset)
}

func (d *document) checkCommand(path string, command []string) {
	if d.has(path) && d.nodes[path].Kind != yaml.SequenceNode {
		return // the reader has complained
	}
	if len(command) == 0 || strings.TrimSpace(command[0]) == "" {
		d.complain(path, `write the program and its arguments, such as ["aider", "--no-git"]`, "the command is empty")
	}
}

func (d *document) checkKeys(path string, keys []string) {
	if len(keys) == 0 {
		d.complain(path, `write keys by their tmux names, such as ["Enter"] or ["C-c"]`, "no key is named")
	}
	for i, key := range keys {
		if !keyName.MatchString(key) {
			d.complain(fmt.Sprintf("%s[%d]", path, i), `write it by its tmux name, such as "Enter" or "C-c"`, "%q is not a key", key)
		}
	}
}

// shellSwitch lets a built-in agent ask for shell commands; it is the one
// variable of ours that a person sets.
const shellSwitch = "ORCHESTRATOR_CC_SHELL"

// checkEnv keeps out names that no program can be given, and those by which a
// pane knows where it belongs.
func (d *document) checkEnv(path string, names []string) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		switch {
		case name == shellSwitch:
		case !envName.MatchString(name):
			d.complain(path+"."+name, `use letters, digits and "_"`, "%q cannot name an environment variable", name)
		case name == "TMUX" || name == "TMUX_PANE" || strings.HasPrefix(name, "ORCHESTRATOR_CC_"):
			d.complain(path+"."+name, "remove it", "%s is set by the session itself", name)
		}
	}
}

// engineNames lists what a person would write behind "engine:". An arbitrary
// program is named by its command instead.
func (c Config) engineNames() []string {
	names := slices.Collect(maps.Keys(c.Engines))
	names = slices.DeleteFunc(names, func(name string) bool { return name == Custom })
	return append(names, Auto)
}

func (c Config) knows(engine string) bool {
	_, ok := c.Engines[engine]
	return ok || engine == Auto
}

// WithEngine makes another engine the default of all agents that name none.
func (c Config) WithEngine(name string) (Config, error) {
	if !c.knows(name) || name == Custom {
		return c, fmt.Errorf("engine %q is unknown; %s", name, suggest(name, c.engineNames()))
	}
	c.Engine = name
	return c, nil
}

// Resolve decides which program each agent really runs: afterwards every agent
// has its engine, its whole command and its whole environment, and none is on
// Auto. It asks installed about each program, and its error names every agent
// whose program is missing. What Auto stands for already is not chosen again.
func (c Config) Resolve(installed func(program string) bool) (Config, error) {
	choice := Builtin
	if e := c.Engines[preferred]; len(e.Command) > 0 && installed(e.Command[0]) {
		choice = preferred
	}
	auto := choice
	if c.knows(c.Auto) && c.Auto != Auto {
		auto = c.Auto
	}
	c.Auto = ""
	var missing []lack
	c.Agents = slices.Clone(c.Agents)
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Engine == "" {
			a.Engine = c.Engine
		}
		if a.Engine == Auto {
			a.Engine, c.Auto = auto, auto
		}
		engine := c.Engines[a.Engine]
		if len(a.Command) == 0 {
			a.Command = slices.Clone(engine.Command)
		}
		env := map[string]string{}
		maps.Copy(env, engine.Env)
		maps.Copy(env, a.Env)
		a.Env = env
		if problem := absent(*a, installed); problem != "" {
			missing = note(missing, problem, a.Name)
		}
	}
	if len(missing) > 0 {
		lines := make([]string, len(missing))
		for i, l := range missing {
			lines[i] = l.String()
		}
		return Config{}, errors.New(strings.Join(lines, "\n"))
	}
	if c.Auto != "" {
		c.Warnings = append(slices.Clone(c.Warnings), autoNote(auto, choice))
	}
	return c, nil
}

// lack is one problem and every agent that has it.
type lack struct {
	problem string
	agents  []string
}

func (l lack) String() string {
	who := "agent"
	if len(l.agents) > 1 {
		who = "agents"
	}
	return fmt.Sprintf("%s %s: %s", who, strings.Join(l.agents, ", "), l.problem)
}

func note(all []lack, problem, agent string) []lack {
	i := slices.IndexFunc(all, func(l lack) bool { return l.problem == problem })
	if i < 0 {
		return append(all, lack{problem, []string{agent}})
	}
	all[i].agents = append(all[i].agents, agent)
	return all
}

func absent(a Agent, installed func(string) bool) string {
	switch {
	case len(a.Command) == 0:
		return fmt.Sprintf("engine %s has no command; add one in the configuration", a.Engine)
	case a.Command[0] == Self || installed(a.Command[0]):
		return ""
	}
	return fmt.Sprintf("engine %s: program %q is not installed; install it, or use the built-in engine: orchestrator-cc up --engine %s",
		a.Engine, a.Command[0], Builtin)
}

// autoNote tells what Auto stands for, and where that is no longer what it would
// choose.
func autoNote(picked, choice string) string {
	if picked != choice {
		return fmt.Sprintf("engine auto: keeping %s, as the session began; to choose again: orchestrator-cc down, then: up", picked)
	}
	if picked == Builtin {
		return fmt.Sprintf("engine auto: %s is not installed, using the built-in engine", preferred)
	}
	return "engine auto: using " + picked
}
