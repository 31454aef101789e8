package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator-cc/personalities"
	"orchestrator-cc/protocol"
)

// maxBrief bounds a personality: the system takes no argument of a command
// line above 128 KiB.
const maxBrief = 64 << 10

// maxMarker is the longest marker in characters; it must fit on a line.
const maxMarker = 60

// agentName is what can follow the "@" of a mention.
var agentName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// checkAgents looks at every agent, and at each beside the others.
func (d *document) checkAgents(cfg *Config) {
	if len(cfg.Agents) == 0 {
		d.complain("agents", `add one, or remove "agents:" to get the five default ones`, "there is no agent")
	}
	for i := range cfg.Agents {
		path := fmt.Sprintf("agents[%d]", i)
		a := &cfg.Agents[i]
		d.checkName(path, a.Name)
		d.checkRole(path, a.Role)
		d.checkMarker(path, a.Marker)
		d.checkProgram(path, a, *cfg)
		d.checkEnv(path+".env", slices.Collect(maps.Keys(a.Env)))
		if a.Timeout == 0 {
			a.Timeout = cfg.Limits.Timeout
		} else if a.Timeout > cfg.Limits.HardLimit {
			d.complain(path+".timeout", "shorten it, or raise limits.hard_limit", "%s is more than the hard limit of %s", a.Timeout, cfg.Limits.HardLimit)
		}
		for j, b := range cfg.Agents[:i] {
			d.checkPair(path, *a, fmt.Sprintf("agents[%d]", j), b)
		}
	}
}

func (d *document) checkName(path, name string) {
	reserved := []string{
		protocol.User, protocol.Hub, protocol.All,
		string(protocol.RankBoss), string(protocol.RankManager), string(protocol.RankSpecialist),
	}
	switch {
	case name == "":
		d.complain(path+".name", "add it, such as name: testing_specialist", "the name is missing")
	case slices.Contains(reserved, name):
		d.complain(path+".name", "choose another name", "%q has a meaning of its own", name)
	case !agentName.MatchString(name):
		d.complain(path+".name", `use small letters, digits, "_" and "-", at most 64, a letter first`, "%q cannot name an agent", name)
	}
}

func (d *document) checkRole(path string, role protocol.Role) {
	const cure = "write grand_boss, middle_manager, or specialist_ and a field, such as specialist_testing"
	switch {
	case role == "":
		d.complain(path+".role", cure, "the role is missing")
	case role == protocol.User || role == protocol.Hub || role.Rank() == protocol.RankNone ||
		!agentName.MatchString(string(role)):
		d.complain(path+".role", cure, "%q is not a role", role)
	}
}

// checkMarker wants a marker that survives being drawn on a screen, and that
// can be neither a mention nor swallow the request's id behind it.
func (d *document) checkMarker(path, marker string) {
	cure := `write a few words that no ordinary text has, such as "TESTING OK"`
	switch {
	case marker == "":
		d.complain(path+".marker", cure, "the marker is missing")
	case strings.TrimSpace(marker) != marker, strings.ContainsFunc(marker, unicode.IsControl):
		d.complain(path+".marker", cure, "%q has blanks around it or control characters in it", marker)
	case !strings.ContainsFunc(marker, unicode.IsLetter):
		d.complain(path+".marker", cure, "%q has no letter", marker)
	case strings.ContainsAny(marker, "<>@`"):
		d.complain(path+".marker", cure, "%q has one of the signs < > @ `, which have a meaning in a reply", marker)
	case utf8.RuneCountInString(marker) > maxMarker:
		d.complain(path+".marker", cure, "the marker has %d characters, at most %d are possible", utf8.RuneCountInString(marker), maxMarker)
	}
}

// checkProgram decides which engine profile an agent has: a command alone is a
// program that we know nothing about.
func (d *document) checkProgram(path string, a *Agent, cfg Config) {
	if d.has(path + ".command") {
		d.checkCommand(path+".command", a.Command)
		if a.Engine == "" {
			a.Engine = Custom
		}
	}
	switch {
	case a.Engine == "":
	case !cfg.knows(a.Engine):
		d.complain(path+".engine", suggest(a.Engine, cfg.engineNames()), "engine %q is unknown", a.Engine)
	case a.Engine == Custom && !d.has(path+".command"):
		d.checkCommand(path+".command", nil)
	case a.Engine == Auto && d.has(path+".command"):
		d.complain(path+".engine", "name the engine whose command this is, or remove one of the two", "a command leaves nothing for auto to choose")
	}
}

// checkPair finds what two agents may not share.
func (d *document) checkPair(path string, a Agent, otherPath string, b Agent) {
	if a.Name == b.Name && a.Name != "" {
		d.complain(path+".name", "give each agent its own name", "%q is the name of %s too", a.Name, otherPath)
	}
	if a.PaneIndex == b.PaneIndex {
		d.complain(path+".pane_index", "give each agent its own pane", "pane %d belongs to %s (%s) already", a.PaneIndex, otherPath, b.Name)
	}
	if rank := a.Role.Rank(); rank == b.Role.Rank() && (rank == protocol.RankBoss || rank == protocol.RankManager) {
		d.complain(path+".role", "make one of them a specialist", "there can be only one %s, and %s (%s) is it already", a.Role, otherPath, b.Name)
	}
	x, y := essence(a.Marker), essence(b.Marker)
	switch {
	case x == "" || y == "":
	case x == y:
		d.complain(path+".marker", "give each agent its own marker", "%q is the marker of %s (%s) too", a.Marker, otherPath, b.Name)
	case strings.Contains(x, y) || strings.Contains(y, x):
		d.complain(path+".marker", "choose markers of which none is part of another", "%q and %q of %s (%s) cannot be told apart", a.Marker, b.Marker, otherPath, b.Name)
	}
}

// essence is what is left of a marker on a narrow screen, where blanks may be
// lost at a line's end, and for a reader who does not mind the case.
func essence(marker string) string {
	return strings.ToLower(strings.Join(strings.Fields(marker), ""))
}

// checkPersonalities finds each agent's brief: the file it names, or the
// embedded one that is named after the same agent.
func (d *document) checkPersonalities(cfg *Config, dir string) {
	var missing []string
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		path := fmt.Sprintf("agents[%d].personality_prompt_path", i)
		name := strings.TrimSuffix(filepath.Base(a.PersonalityPath), ".txt")
		if a.PersonalityPath == "" {
			name = a.Name
		}
		brief, known := personalities.Brief(name, cfg.Cluster.Language)
		switch {
		case a.PersonalityPath != "" && dir != "":
			if named := a.PersonalityPath; !d.readBrief(path, a, dir, brief) {
				missing = append(missing, named)
			}
		case known:
			a.Personality, a.PersonalityPath = brief, ""
		case a.PersonalityPath != "" || cfg.needsBrief(*a):
			d.complain(path, "write a brief into a file and name it here", "%s has no personality, and none is embedded for it", a.Name)
		}
		if a.Personality != "" && !strings.Contains(a.Personality, a.Marker) {
			cfg.Warnings = append(cfg.Warnings, fmt.Sprintf("the personality of %s does not mention its marker %q; add a line that asks for it", a.Name, a.Marker))
		}
	}
	// A stand-in is worth a word only if the project itself named the file.
	if len(missing) > 0 && d.has("agents") && !d.stock {
		cfg.Warnings = append(cfg.Warnings, standIns(missing))
	}
}

// standIns says that embedded briefs are used instead of files.
func standIns(missing []string) string {
	what := missing[0] + " is not there; its built-in brief stands in"
	if more := len(missing) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more are not there; the built-in briefs stand in", missing[0], more)
	}
	return what + " (to edit them: orchestrator-cc init)"
}

// needsBrief tells whether an agent without a brief would not know its role.
func (c Config) needsBrief(a Agent) bool {
	return a.Engine == "" || a.Engine == Auto || c.knows(a.Engine) && c.Engines[a.Engine].Personality != ByNone
}

// readBrief reads the named file. Where it is missing and an embedded brief
// stands in, it says so; every other mistake is a complaint.
func (d *document) readBrief(path string, a *Agent, dir, embedded string) (found bool) {
	file := d.resolvePath(path, a.PersonalityPath, dir)
	if file == "" {
		return true
	}
	data, err := readUpTo(file, maxBrief)
	switch {
	case errors.Is(err, fs.ErrNotExist) && embedded != "":
		a.Personality, a.PersonalityPath = embedded, ""
		return false
	case errors.Is(err, fs.ErrNotExist):
		d.complain(path, "write the file, or correct the path", "personality file %s does not exist", file)
	case err != nil:
		d.complain(path, "check the path and its permissions", "personality file: %v", err)
	case len(data) > maxBrief:
		d.complain(path, "shorten it", "personality file %s has more than %d bytes", file, maxBrief)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		d.complain(path, "save it as UTF-8", "personality file %s is not UTF-8 text", file)
	case strings.TrimSpace(string(data)) == "":
		d.complain(path, "write the agent's brief into it", "personality file %s is empty", file)
	default:
		a.Personality, a.PersonalityPath = string(data), file
	}
	return true
}
