// A plugin for OpenCode: it tells orchestrator-cc which prompt was taken, how
// the answer goes on while it is being written, and what the exact answer is. It is written into the agent's own folder and named
// by a variable, so the user's files stay as they are.
import { spawn } from "node:child_process"
import { appendFile } from "node:fs"

const [self, program] = JSON.parse(process.env.ORCHESTRATOR_CC_PLUGIN)

// tell runs one hook and waits for it, so that what is said stays in order, and
// returns what the hook prints.
function tell(event, data) {
  return new Promise((resolve) => {
    const child = spawn(self, ["hook", "--program", program, event], { stdio: ["pipe", "pipe", "ignore"], timeout: 10000 })
    const said = []
    child.stdout.on("data", (piece) => said.push(piece))
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(Buffer.concat(said).toString()))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(data))
  })
}

// writing is the answer so far: the texts of the newest message of the model's,
// by part. What is new of it goes to the spool itself, ten times a second at
// most; a process for each would cost more than it tells.
const writing = { req: "", message: "", texts: new Map(), told: "", timer: undefined }

function begin(req) {
  clearTimeout(writing.timer)
  Object.assign(writing, { req, message: "", texts: new Map(), told: "", timer: undefined })
}

function write(event) {
  const { type, properties } = event
  const part = properties?.part
  if (type === "message.updated" && properties.info.sessionID === conversation && properties.info.role === "assistant" && properties.info.id !== writing.message) {
    writing.message = properties.info.id
    writing.texts = new Map()
  } else if (type === "message.part.updated" && part.type === "text" && !part.synthetic && !part.ignored && part.messageID === writing.message) {
    writing.texts.set(part.id, part.text)
  } else if (type === "message.part.delta" && properties.field === "text" && writing.texts.has(properties.partID)) {
    writing.texts.set(properties.partID, writing.texts.get(properties.partID) + properties.delta)
  } else return
  if (writing.req) writing.timer ??= setTimeout(tellPart, 100)
}

function tellPart() {
  writing.timer = undefined
  const text = [...writing.texts.values()].join("")
  if (!writing.req || text === writing.told) return
  const shared = text.startsWith(writing.told) ? writing.told : ""
  writing.told = text
  const part = { event: "part", req: writing.req, offset: Buffer.byteLength(shared), text: text.slice(shared.length), time: new Date().toISOString() }
  appendFile(process.env.ORCHESTRATOR_CC_SPOOL, JSON.stringify(part) + "\n", () => {})
}

// retrying tells what OpenCode waits for by itself before it asks the model
// again.
function retrying({ sessionID, status }) {
  if (!writing.req || sessionID !== conversation || status.type !== "retry") return
  const wait = { event: "waits", req: writing.req, text: status.message, until: new Date(status.next).toISOString(), time: new Date().toISOString() }
  appendFile(process.env.ORCHESTRATOR_CC_SPOOL, JSON.stringify(wait) + "\n", () => {})
}

// open are the questions that a person may answer outside this program, and the
// hook that waits for each.
const open = new Map()

// ask lets a person decide on a tool call. Without a decision the dialog stays,
// and whoever answers that one ends the hook.
function ask(client, { id, sessionID, permission, patterns, metadata }) {
  const child = spawn(self, ["hook", "--program", program, "permission"], { stdio: ["pipe", "pipe", "ignore"] })
  open.set(id, child)
  let verdict = ""
  child.stdout.on("data", (text) => (verdict += text))
  child.on("error", () => {})
  child.on("close", async () => {
    if (open.delete(id) && verdict) {
      // A refusal without words ends the turn, as is wanted when the task is over; with them the model is told.
      const body = { once: { reply: "once" }, reject: { reply: "reject", message: "A person has denied this." }, over: { reply: "reject" } }[verdict]
      await client._client.post({ url: `/permission/${id}/reply`, body, headers: { "Content-Type": "application/json" } })
    }
  })
  child.stdin.on("error", () => {})
  child.stdin.end(JSON.stringify({ session: sessionID, permission, args: { ...metadata, ...wanted(permission, patterns) } }))
}

// wanted is what a call is about where its details do not say it.
const wanted = (permission, patterns) => (permission === "bash" ? { command: patterns.join("\n") } : { patterns })

function answered(id) {
  const child = open.get(id)
  if (open.delete(id)) child.kill()
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

// asked are the prompts of the conversation at the pane that are not answered
// yet, oldest first. OpenCode takes further ones while it works, and comes to
// rest once after all of them.
let asked = []
let conversation

// isSide says that a conversation belongs to a tool of another one.
async function isSide(client, session) {
  const { data } = await client.session.get({ path: { id: session } })
  return Boolean(data?.parentID)
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
    if (input.sessionID !== conversation) {
      if (await isSide(client, input.sessionID)) return
      conversation = input.sessionID
      asked = []
    }
    const prompt = { id: output.message.id, text: textOf(output.parts) }
    asked.push(prompt)
    const tag = prompt.text.match(/^\s*req-([a-z0-9]+) from /)
    if (tag) begin(tag[1])
    if (asked.length === 1) await tell("prompt", { session: conversation, text: prompt.text })
  },
  "tool.execute.before": async (input, output) => {
    await tell("tool", { session: conversation, tool_name: input.tool, tool_input: output.args })
  },
  event: async ({ event }) => {
    if (event.type === "permission.asked") return ask(client, event.properties)
    if (event.type === "permission.replied") return answered(event.properties.requestID)
    if (event.type === "session.status") return retrying(event.properties)
    if (event.type !== "session.idle") return write(event)
    const session = event.properties.sessionID
    if (session === conversation) begin("")
    const prompts = session === conversation ? asked.splice(0) : []
    const { data } = await client.session.messages({ path: { id: session } })
    const answers = (data ?? []).filter((m) => m.info.role === "assistant")
    if (session !== conversation) return tell("tool", { session, took: took(answers) })
    for (const [i, prompt] of prompts.entries()) {
      const own = answers.filter((m) => m.info.parentID === prompt.id)
      const last = own.at(-1)
      const failure = last ? last.info.error : { name: "it was not begun" }
      if (i > 0) await tell("prompt", { session, text: prompt.text })
      const said = await tell(failure ? "failed" : "answer", {
        session,
        text: failure ? failure.data?.message ?? failure.name : textOf(last.parts),
        took: took(own),
      })
      if (!said) continue
      // Something is missing; nobody waits here for the answer to this.
      const parts = [{ type: "text", text: JSON.parse(said).reason }]
      client.session.prompt({ path: { id: session }, body: { parts } }).catch(() => {})
    }
  },
})
