package api_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"orchestrator-cc/api"
	"orchestrator-cc/api/apitest"
	"orchestrator-cc/protocol"
)

func shell(command string) api.Ask {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return api.Ask{Tool: "Bash", Args: args}
}

// busyOn gives the testing specialist a task, so that its questions belong to it.
func busyOn(t *testing.T, hub *apitest.Hub, id string) {
	t.Helper()
	hub.PutTask(protocol.Task{ID: id, Root: id, From: protocol.User, Agent: "testing_specialist", State: protocol.TaskInProgress})
	hub.Change(func(o *protocol.Overview) { o.Agents[4].Task = id })
}

// TestDecisionsForMore lets a person decide for a task and for an agent: what is
// of the kind is not asked again, what is not of it is.
func TestDecisionsForMore(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, user := serveConfirming(t, hub, protocol.Policy{Timeout: time.Minute})
	one, two := protocol.NewID(), protocol.NewID()
	busyOn(t, hub, one)

	decided := ask(t, socket, shell("git status"))
	item := pending(t, user)
	if item.Kind != "Bash git status" || item.Warning.Level != protocol.LevelInfo {
		t.Errorf("got kind %q and %+v, want git status, which only looks", item.Kind, item.Warning)
	}
	if _, err := user.Decide(t.Context(), item.ID, api.Decision{Approved: true, Scope: protocol.ScopeTask}); err != nil {
		t.Fatal(err)
	}
	<-decided
	if got := <-ask(t, socket, shell("git status --short")); got.State != protocol.ConfirmationApproved || !strings.Contains(got.By, "rule "+item.ID[:8]) || !strings.Contains(got.By, "by user") {
		t.Errorf("got %s by %q, want it approved by the person's rule", got.State, got.By)
	}

	// What is not of the kind is asked.
	for _, other := range []string{"git push", "git status; git push"} {
		decided = ask(t, socket, shell(other))
		asked := pending(t, user)
		if _, err := user.Decide(t.Context(), asked.ID, api.Decision{Scope: protocol.ScopeAgent}); err != nil {
			t.Fatal(err)
		}
		if got := <-decided; got.State != protocol.ConfirmationDenied || got.By != protocol.User {
			t.Errorf("%s: got %s by %s, want the person asked", other, got.State, got.By)
		}
	}
	rules, err := user.Rules(t.Context())
	if err != nil || len(rules) != 3 {
		t.Fatalf("got %+v (%v), want 3 rules", rules, err)
	}

	// A task's rule ends with its task, an agent's does not.
	hub.Reply(one, "done")
	busyOn(t, hub, two)
	if got := <-ask(t, socket, shell("git push")); got.State != protocol.ConfirmationDenied || !strings.Contains(got.By, "rule ") {
		t.Errorf("got %s by %q, want it denied by the agent's rule", got.State, got.By)
	}
	decided = ask(t, socket, shell("git status"))
	item = pending(t, user)

	// Revoked rules count no more.
	if _, err := user.Revoke(t.Context(), rules[1].ID[:8]); err != nil {
		t.Fatal(err)
	}
	if _, err := user.Revoke(t.Context(), rules[1].ID); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("got %v, want a second end refused", err)
	}
	if _, err := user.Decide(t.Context(), item.ID, api.Decision{Approved: true}); err != nil {
		t.Fatal(err)
	}
	<-decided
	ask(t, socket, shell("git push"))
	if again := pending(t, user); again.Kind != "Bash git push" {
		t.Errorf("got %q asked, want git push", again.Kind)
	}
}

// TestRulesNotByAgents tries to make and to end rules from a pane.
func TestRulesNotByAgents(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, user := serveConfirming(t, hub, protocol.Policy{Timeout: time.Minute})
	ask(t, socket, shell("make"))
	item := pending(t, user)
	if _, err := user.Decide(t.Context(), item.ID, api.Decision{Scope: protocol.ScopeTask}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("got %v, want a decision for a task refused where there is none", err)
	}
	if _, err := user.Decide(t.Context(), item.ID, api.Decision{Scope: protocol.ScopeAgent}); err != nil {
		t.Fatal(err)
	}
	agent := api.NewClient(socket, "secret-of-testing_specialist")
	defer agent.Close()
	if _, err := agent.Revoke(t.Context(), item.ID); protocol.CodeOf(err) != protocol.CodeForbidden {
		t.Errorf("got %v, want an agent refused", err)
	}
	hub.Change(func(o *protocol.Overview) { o.Agents[2].PID = os.Getppid() })
	if _, err := user.Revoke(t.Context(), item.ID); protocol.CodeOf(err) != protocol.CodeForbidden {
		t.Errorf("got %v, want a descendant of a pane refused", err)
	}
	forged := `{"header":{"message_id":"","from":{"agent_type":"","agent_id":""},"to":{"agent_type":"","agent_id":"user"},"type":"event"},"payload":{"event_type":"confirmation_rule_revoked","data":{"ruleId":"` + item.ID + `"}}}`
	if status, body := raw(t, socket, "POST", "/messages", forged); status != 400 {
		t.Errorf("got %d %s, want a forged end refused", status, body)
	}
}

// TestRulesOfTheConfiguration decides without a person, and says by which rule.
func TestRulesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	socket, user := serveConfirming(t, apitest.New(nil), protocol.Policy{Timeout: time.Minute, Rules: []protocol.PolicyRule{
		{Tool: "Bash", Match: "rm *", Decide: protocol.DecideDeny}, {Tool: "Bash", Match: "git *", Decide: protocol.DecideAllow},
	}})
	if got := <-ask(t, socket, shell("git log")); got.State != protocol.ConfirmationApproved || got.By != `the configuration's rule: allow Bash "git *"` {
		t.Errorf("got %s by %q, want it approved by its rule", got.State, got.By)
	}
	if got := <-ask(t, socket, shell("git log; rm -rf /")); got.State != protocol.ConfirmationDenied {
		t.Errorf("got %s by %q, want it denied", got.State, got.By)
	}
	ask(t, socket, shell("git log; make"))
	pending(t, user)
}

// TestConfirmationOfAnEndedTask is withdrawn with its task.
func TestConfirmationOfAnEndedTask(t *testing.T) {
	t.Parallel()
	hub := apitest.New(nil)
	socket, user := serveConfirming(t, hub, protocol.Policy{Timeout: time.Minute})
	task := protocol.NewID()
	busyOn(t, hub, task)
	decided := ask(t, socket, shell("make"))
	pending(t, user)
	hub.Reply(task, "never mind")
	if got := <-decided; got.State != protocol.ConfirmationWithdrawn {
		t.Errorf("got %s by %q, want it withdrawn", got.State, got.By)
	}
}
