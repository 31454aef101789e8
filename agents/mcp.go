package agents

// Every program that can gets the company's tools: our own MCP server, started
// by the program itself beside it.
//
//	program -> orchestrator-cc mcp -> hub, in the name of the pane's agent
//
// Whose name that is proves the pane's environment. Programs keep most of theirs
// from the servers they start, so the variables are named; their values stand in
// no file. What our tools do is bounded by the permissions of the company, so
// none of them needs a person's word.

const mcpName = "orchestrator-cc"

// paneVariables is what the server needs of the pane's environment.
func paneVariables() []string {
	return []string{"ORCHESTRATOR_CC_DIR", "ORCHESTRATOR_CC_AGENT", "ORCHESTRATOR_CC_SECRET"}
}

// paneEnvironment hands the variables on, each as the program words a reference.
func paneEnvironment(refer func(name string) string) map[string]string {
	env := map[string]string{}
	for _, name := range paneVariables() {
		env[name] = refer(name)
	}
	return env
}
