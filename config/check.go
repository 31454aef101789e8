package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"orchestrator-cc/protocol"
)

// misprint is how the tmux design document spells the current folder.
const misprint = ".>"

// sessionName keeps out what tmux gives a meaning of its own (":", ".", and
// signs at the front). Its length is checked beside it: a bounded repeat of
// these classes would take milliseconds to compile at every start.
var sessionName = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_-]*$`)

// maxSessionName keeps a socket's path short, which is named after the session.
const maxSessionName = 48

var socketName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check looks at everything that needs more than one value, or the disk, and
// fills in what follows from other values. Without a dir the disk stays out.
func (d *document) check(cfg *Config, dir string) {
	d.checkCluster(&cfg.Cluster, dir)
	for _, e := range sortedEngines(cfg.Engines) {
		d.checkEngine("engines."+e.Name, e)
	}
	d.checkDefaultEngine(*cfg)
	d.checkAgents(cfg)
	d.checkPersonalities(cfg, dir)
	d.checkPermissions(*cfg)
	d.checkApprovals(cfg)
	d.checkAPI(&cfg.API, dir)
	d.checkRouting(*cfg)
	d.checkNumbers(*cfg)
	if s := cfg.Tmux.Socket; s != "" && !socketName.MatchString(s) {
		d.complain("tmux.socket", `use letters, digits, "_" and "-"`, "%q cannot name a tmux socket", s)
	}
	slices.SortStableFunc(cfg.Agents, func(a, b Agent) int { return cmp.Compare(a.PaneIndex, b.PaneIndex) })
}

func sortedEngines(engines map[string]Engine) []Engine {
	var list []Engine
	for name, e := range engines {
		e.Name = name
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Engine) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (d *document) checkCluster(c *Cluster, dir string) {
	if strings.TrimSpace(c.Name) == "" || strings.ContainsAny(c.Name, "\n\r\t") {
		d.complain("cluster.name", `write a name on one line, such as "orchestrator-cc"`, "%q cannot name a cluster", c.Name)
	}
	if !sessionName.MatchString(c.SessionName) || utf8.RuneCountInString(c.SessionName) > maxSessionName {
		d.complain("cluster.session_name", `use letters, digits, "_" and "-", at most 48`, "%q cannot name a tmux session", c.SessionName)
	}
	if c.WorkDir == misprint {
		c.WorkDir = "."
	}
	if dir == "" {
		c.WorkDir = ""
		return
	}
	c.WorkDir = d.resolvePath("cluster.work_dir", c.WorkDir, dir)
	if c.WorkDir == "" {
		return
	}
	info, err := os.Stat(c.WorkDir)
	switch {
	case err != nil:
		d.complain("cluster.work_dir", "make the folder, or write the path of one", "the work dir cannot be used: %v", err)
	case !info.IsDir():
		d.complain("cluster.work_dir", "write the path of a folder", "the work dir %s is not a folder", c.WorkDir)
	default:
		d.checkOpens("cluster.work_dir", c.WorkDir)
	}
}

// checkOpens finds out whether we may read a folder or a file.
func (d *document) checkOpens(path, file string) {
	f, err := os.Open(file)
	if err != nil {
		d.complain(path, "check the path and its permissions", "%v", err)
		return
	}
	_ = f.Close() // nothing was written
}

// resolvePath makes a path absolute, or returns "" after a complaint.
func (d *document) resolvePath(path, value, dir string) string {
	switch {
	case strings.TrimSpace(value) == "":
		d.complain(path, `write a path, such as "."`, "the path is empty")
		return ""
	case value == "~" || strings.HasPrefix(value, "~/"):
		d.complain(path, "write the whole path", `"~" has no meaning here`)
		return ""
	case filepath.IsAbs(value):
		return filepath.Clean(value)
	}
	return filepath.Join(dir, value)
}

func (d *document) checkDefaultEngine(cfg Config) {
	if cfg.Engine == Custom {
		d.complain("engine", `give each agent its own "command:" instead`, "%q cannot be the engine of all agents", Custom)
	} else if !cfg.knows(cfg.Engine) {
		d.complain("engine", suggest(cfg.Engine, cfg.engineNames()), "engine %q is unknown", cfg.Engine)
	}
}

func (d *document) checkPermissions(cfg Config) {
	parties := []string{
		protocol.User, protocol.Hub, protocol.All,
		string(protocol.RankBoss), string(protocol.RankManager), string(protocol.RankSpecialist),
	}
	for _, a := range cfg.Agents {
		parties = append(parties, a.Name, string(a.Role))
	}
	slices.Sort(parties)
	parties = slices.Compact(parties)
	var types []string
	for _, t := range protocol.Types() {
		types = append(types, string(t))
	}
	for i, rule := range cfg.Permissions {
		path := fmt.Sprintf("permissions[%d]", i)
		d.checkParty(path+".from", rule.From, parties)
		d.checkParty(path+".to", rule.To, parties)
		if len(rule.Types) == 0 {
			d.complain(path+".types", "write a list, such as [request, event]", "no message type is named")
		}
		for j, t := range rule.Types {
			if !slices.Contains(types, string(t)) {
				d.complain(fmt.Sprintf("%s.types[%d]", path, j), suggest(string(t), types), "%q is not a message type", t)
			}
		}
	}
}

func (d *document) checkParty(path, name string, parties []string) {
	if !slices.Contains(parties, name) {
		d.complain(path, suggest(name, parties), "%q is no rank, role or agent", name)
	}
}

func (d *document) checkAPI(a *API, dir string) {
	for path, file := range map[string]*string{"api.tls.cert": &a.TLS.Cert, "api.tls.key": &a.TLS.Key} {
		if *file == "" || dir == "" {
			continue
		}
		if *file = d.resolvePath(path, *file, dir); *file != "" {
			d.checkOpens(path, *file)
		}
	}
	secure := a.TLS.Cert != "" && a.TLS.Key != ""
	if !secure && (d.has("api.tls.cert") || d.has("api.tls.key")) {
		d.complain("api.tls", "name the certificate and its key, or neither", "cert and key belong together")
	}
	if a.Listen == "" {
		return
	}
	host, port, err := net.SplitHostPort(a.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		d.complain("api.listen", "write host and port, such as 127.0.0.1:8000", "%q is not an address", a.Listen)
		return
	}
	if !loopback(host) && !secure && !a.TLS.SelfMade {
		d.complain("api.listen", "listen on 127.0.0.1, or add api.tls", "%s can be reached from other machines, which needs TLS", a.Listen)
	}
}

// checkRouting finds agents that are not there.
func (d *document) checkRouting(cfg Config) {
	var names []string
	for _, a := range cfg.Agents {
		names = append(names, a.Name)
	}
	for path, name := range map[string]string{
		"routing.chat": cfg.Routing.Chat, "routing.command_execution": cfg.Routing.CommandExecution,
		"routing.file_operation": cfg.Routing.FileOperation, "routing.complex_task": cfg.Routing.ComplexTask,
	} {
		if name != "" && !slices.Contains(names, name) {
			d.complain(path, suggest(name, names), "there is no agent %q", name)
		}
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// checkNumbers compares values that are right one by one.
func (d *document) checkNumbers(cfg Config) {
	if cfg.Retry.MaxDelay < cfg.Retry.Initial {
		d.complain("retry.max_delay", "write at least retry.initial", "%s is less than the first delay of %s", cfg.Retry.MaxDelay, cfg.Retry.Initial)
	}
	if l := cfg.Limits; l.PayloadBytes < l.PromptBytes {
		d.complain("limits.payload_bytes", "write at least limits.prompt_bytes", "a message of %d bytes cannot carry a prompt of %d", l.PayloadBytes, l.PromptBytes)
	}
	if l := cfg.Limits; l.HardLimit < l.Timeout {
		d.complain("limits.hard_limit", "write at least limits.timeout", "%s is less than the timeout of %s", l.HardLimit, l.Timeout)
	}
}
