package config

import (
	"time"

	"orchestrator-cc/personalities"
	"orchestrator-cc/protocol"
)

// Bounds that only keep out what must be a slip of the pen.
const (
	longest  = 7 * 24 * time.Hour
	mostSize = 1 << 30
	mostRuns = 1_000_000
	mostPane = 999
	mostCost = 1_000_000_000_000 // tokens
)

// read lays what the document says over cfg.
func (c cursor) read(cfg *Config) {
	c.object(fields{
		"cluster":     cfg.Cluster.read,
		"engine":      text(&cfg.Engine),
		"agents":      func(at cursor) { cfg.Agents = readAgents(at) },
		"engines":     func(at cursor) { readEngines(at, cfg.Engines) },
		"tmux":        cfg.Tmux.read,
		"layout":      func(at cursor) { readLayout(at, &cfg.Layout) },
		"api":         cfg.API.read,
		"routing":     cfg.Routing.read,
		"retry":       cfg.Retry.read,
		"limits":      cfg.Limits.read,
		"sessions":    cfg.Sessions.read,
		"permissions": func(at cursor) { cfg.Permissions = readPermissions(at) },
		"approvals":   func(at cursor) { readApprovals(at, &cfg.Approvals) },
		"journal":     cfg.Journal.read,
	})
}

func (s *Cluster) read(at cursor) {
	at.object(fields{
		"name":         text(&s.Name),
		"session_name": text(&s.SessionName),
		"work_dir":     text(&s.WorkDir),
		"language":     choice(&s.Language, personalities.Languages()...),
	})
}

func readAgents(at cursor) []Agent {
	var agents []Agent
	at.items(func(i int, item cursor) {
		agent := Agent{PaneIndex: i}
		role := ""
		item.object(fields{
			"name":                    text(&agent.Name),
			"role":                    text(&role),
			"personality_prompt_path": text(&agent.PersonalityPath),
			"marker":                  text(&agent.Marker),
			"marker_loose":            toggle(&agent.MarkerLoose),
			"pane_index":              number(&agent.PaneIndex, 0, mostPane),
			"engine":                  text(&agent.Engine),
			"command":                 words(&agent.Command),
			"env":                     pairs(&agent.Env),
			"timeout":                 duration(&agent.Timeout, time.Millisecond, longest),
			"tokens":                  number(&agent.Tokens, 1, mostCost),
			"approvals":               func(at cursor) { readApprovals(at, &agent.Approvals) },
		})
		agent.Role = protocol.Role(role)
		agents = append(agents, agent)
	})
	return agents
}

func (t *Tmux) read(at cursor) {
	at.object(fields{
		"socket": text(&t.Socket),
		"config": choice(&t.Config, TmuxOwn, TmuxUser),
	})
}

// readLayout takes "panes" as the spelled-out form of the default.
func readLayout(at cursor, layout *string) {
	word := *layout
	choice(&word, "panes", LayoutPanes, LayoutWindows)(at)
	if word == "panes" {
		word = LayoutPanes
	}
	*layout = word
}

func (a *API) read(at cursor) {
	at.object(fields{
		"listen": text(&a.Listen),
		"tls": func(at cursor) {
			at.object(fields{"cert": text(&a.TLS.Cert), "key": text(&a.TLS.Key), "self_made": toggle(&a.TLS.SelfMade)})
		},
	})
}

func (r *Routing) read(at cursor) {
	at.object(fields{
		"chat":              text(&r.Chat),
		"command_execution": text(&r.CommandExecution),
		"file_operation":    text(&r.FileOperation),
		"complex_task":      text(&r.ComplexTask),
	})
}

func (r *Retry) read(at cursor) {
	at.object(fields{
		"max":        number(&r.Max, 0, 100),
		"initial":    duration(&r.Initial, time.Millisecond, longest),
		"max_delay":  duration(&r.MaxDelay, time.Millisecond, longest),
		"multiplier": factor(&r.Multiplier, 1, 100),
		"jitter":     toggle(&r.Jitter),
	})
}

func (l *Limits) read(at cursor) {
	at.object(fields{
		"timeout":       duration(&l.Timeout, time.Millisecond, longest),
		"hard_limit":    duration(&l.HardLimit, time.Millisecond, longest),
		"accept":        duration(&l.Accept, time.Millisecond, longest),
		"turns":         number(&l.Turns, 1, mostRuns),
		"depth":         number(&l.Depth, 1, 100),
		"open_tasks":    number(&l.OpenTasks, 1, mostRuns),
		"prompt_bytes":  number(&l.PromptBytes, 1, mostSize),
		"payload_bytes": number(&l.PayloadBytes, 1, mostSize),
		"tokens": func(at cursor) {
			at.object(fields{
				"task":  number(&l.Tokens.Task, 0, mostCost),
				"agent": number(&l.Tokens.Agent, 0, mostCost),
				"day":   number(&l.Tokens.Day, 0, mostCost),
			})
		},
	})
}

func (s *Sessions) read(at cursor) {
	at.object(fields{"forget": toggle(&s.Forget)})
}

func readPermissions(at cursor) protocol.Matrix {
	matrix := protocol.Matrix{}
	at.items(func(_ int, item cursor) {
		var rule protocol.Rule
		var types []string
		item.object(fields{
			"from":  text(&rule.From),
			"to":    text(&rule.To),
			"types": words(&types),
		})
		for _, t := range types {
			rule.Types = append(rule.Types, protocol.Type(t))
		}
		matrix = append(matrix, rule)
	})
	return matrix
}

func (j *Journal) read(at cursor) {
	at.object(fields{
		"rotate_bytes": number(&j.RotateBytes, 0, mostSize),
		"keep":         number(&j.Keep, 1, 1000),
	})
}
