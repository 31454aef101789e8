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

// took is what each answer of a conversation took, those told before left out.
// Reading from a cache is no part of the input; writing to it is.
const told = new Set()
function took(answers) {
  const fresh = answers.filter((m) => m.info.time?.completed && m.info.tokens && !told.has(m.info.id))
  return fresh.map(({ info }) => {
    told.add(info.id)
    const { input, output, reasoning, cache } = info.tokens
    return {
      id: info.id,
      model: info.modelID,
      at: new Date(info.time.completed).toISOString(),
      input: input + (cache?.write ?? 0),
      output: output + (reasoning ?? 0),
      cached: cache?.read ?? 0,
      cost: info.cost,
    }
  })
}

export const OrchestratorCC = async ({ client }) => {
  await tell("ready", {})
  return hooks(client)
}

const hooks = (client) => ({
  "chat.message": async (input, output) => {
    // The composer puts a blank behind a paste; no prompt of ours ends with one.
    const last = output.parts.filter((p) => p.type === "text").at(-1)
    if (last && textOf(output.parts).startsWith("req-")) last.text = last.text.trimEnd()
    await tell("prompt", { session: input.sessionID, text: textOf(output.parts) })
  },
  "tool.execute.before": async (input) => {
    await tell("tool", { session: input.sessionID })
  },
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    const session = event.properties.sessionID
    const { data } = await client.session.messages({ path: { id: session } })
    const answers = (data ?? []).filter((m) => m.info.role === "assistant")
    const last = answers.at(-1)
    if (!last) return
    const failure = last.info.error
    await tell(failure ? "failed" : "answer", {
      session,
      text: failure ? failure.data?.message ?? failure.name : textOf(last.parts),
      took: took(answers),
    })
  },
})
