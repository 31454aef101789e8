package config

import (
	"fmt"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"orchestrator-cc/protocol"
)

func decisions() []string {
	return []string{protocol.DecideAsk, protocol.DecideKey, protocol.DecideAllow, protocol.DecideDeny}
}

// readApprovals reads how tool calls are decided: one word, or the word with
// rules before it.
func readApprovals(at cursor, p *protocol.Policy) {
	if at.node.Kind == yaml.ScalarNode {
		choice(&p.Default, decisions()...)(at)
		return
	}
	at.object(fields{
		"default": choice(&p.Default, decisions()...),
		"timeout": duration(&p.Timeout, time.Millisecond, longest),
		"rules": func(at cursor) {
			p.Rules = nil
			at.items(func(_ int, item cursor) {
				var r protocol.PolicyRule
				item.object(fields{"tool": text(&r.Tool), "match": text(&r.Match), "decide": choice(&r.Decide, decisions()...)})
				p.Rules = append(p.Rules, r)
			})
		},
	})
}

// checkApprovals looks at the rules, and lays those of all agents behind those
// of each.
func (d *document) checkApprovals(cfg *Config) {
	d.checkRules("approvals", cfg.Approvals)
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		d.checkRules(fmt.Sprintf("agents[%d].approvals", i), a.Approvals)
		a.Approvals.Rules = slices.Concat(a.Approvals.Rules, cfg.Approvals.Rules)
		if a.Approvals.Default == "" {
			a.Approvals.Default = cfg.Approvals.Default
		}
		if a.Approvals.Timeout == 0 {
			a.Approvals.Timeout = cfg.Approvals.Timeout
		}
	}
}

func (d *document) checkRules(path string, p protocol.Policy) {
	for i, r := range p.Rules {
		at := fmt.Sprintf("%s.rules[%d]", path, i)
		if r.Tool == "" && !d.has(at+".tool") {
			d.complain(at+".tool", `name a tool, such as Bash, or "*" for every one`, "the rule names no tool")
		}
		if r.Decide == "" && !d.has(at+".decide") {
			d.complain(at+".decide", "write ask, key, allow or deny", "the rule decides nothing")
		}
	}
}
