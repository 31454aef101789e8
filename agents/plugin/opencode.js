// A plugin for OpenCode: it tells orchestrator-cc which prompt was taken and
// what the exact answer is. It is written into the agent's own folder and named
// by a variable, so the user's files stay as they are.
import { spawn } from "node:child_process"

const [self, program] = JSON.parse(process.env.ORCHESTRATOR_CC_PLUGIN)

// tell runs one hook and waits for it, so that what is said stays in order.
function tell(event, data) {
  return new Promise((resolve) => {
    const child = spawn(self, ["hook", "--program", program, event], { stdio: ["pipe", "ignore", "ignore"], timeout: 10000 })
    child.on("error", resolve)
    child.on("close", resolve)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(data))
  })
}

const textOf = (parts) => parts.filter((p) => p.type === "text" && !p.synthetic && !p.ignored).map((p) => p.text).join("")

export const OrchestratorCC = async ({ client }) => {
  await tell("ready", {})
  return hooks(client)
}

const hooks = (client) => ({
  "chat.message": async (input, output) => {
    await tell("prompt", { session: input.sessionID, text: textOf(output.parts) })
  },
  "tool.execute.before": async (input) => {
    await tell("tool", { session: input.sessionID })
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    const session = event.properties.sessionID
    const { data } = await client.session.messages({ path: { id: session } })
    const last = (data ?? []).filter((m) => m.info.role === "assistant").at(-1)
    if (!last) return
    const failure = last.info.error
    await tell(failure ? "failed" : "answer", {
      session,
      text: failure ? failure.data?.message ?? failure.name : textOf(last.parts),
    })
  },
})
