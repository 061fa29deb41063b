// Tome's memory in OpenCode. Written by `tome setup`; changes to this file are kept, and not updated.
//
// Hands what OpenCode's hooks and its event bus say to `tome hook opencode`, one process each, in the
// order in which it happened, and puts the answers where the model reads them. Nothing in here throws,
// and nothing waits longer than WAIT_MS: without Tome, OpenCode goes on as if this file were not there.
import { spawn } from "node:child_process"

const TOME = ["tome"]
const WAIT_MS = 1500

// Bus events that say nothing of their own: the state of things while it changes, or what a hook
// above has said. What stands in neither list is handed on, so that nothing new is missed.
const ECHOES = new Set([
  "session.updated", "session.status", "session.diff", "message.updated", "message.part.delta",
  "message.part.removed", "permission.asked", "permission.updated", "todo.updated",
])
const ECHO_FAMILIES = [
  "server.", "installation.", "project.", "session.next.", "file.", "lsp.", "tui.", "pty.", "vcs.",
]

function run(event, payload) {
  return new Promise((resolve) => {
    let said = ""
    let timer
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      const child = spawn(TOME[0], [...TOME.slice(1), "hook", "opencode", event], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      timer = setTimeout(() => {
        child.kill()
        done({})
      }, WAIT_MS)
      child.on("error", () => done({}))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (said += part))
      child.on("close", () => {
        try {
          const answer = said.trim() ? JSON.parse(said) : {}
          done(answer && typeof answer === "object" ? answer : {})
        } catch {
          done({})
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done({})
    }
  })
}

function isEcho(type) {
  return ECHOES.has(type) || ECHO_FAMILIES.some((family) => type.startsWith(family))
}

// A part of a message changes many times a second while it is written. News is a finished text of
// the agent, and a tool call that failed, for which OpenCode runs no hook.
function isNews(part) {
  if (part?.type === "text") return !part.synthetic && part.time?.end !== undefined
  return part?.type === "tool" && part.state?.status === "error"
}

function contextOf(answer) {
  return typeof answer?.context === "string" && answer.context ? answer.context : undefined
}

// What the title is made with is a call of its own, and has no use for memory.
function isForTitle(system) {
  return system.some((text) => typeof text === "string" && text.startsWith("You are a title generator"))
}

export const Tome = async ({ client, directory, worktree }) => {
  const starts = new Map() // session → what its system prompt gets, once that is known
  const nudged = new Set() // sessions that are at work on a nudge of ours
  let last = Promise.resolve({})

  // One after the other, so that events arrive in the order in which they happened.
  const call = (event, payload) => {
    last = last.then(() => run(event, { ...payload, directory, worktree })).catch(() => ({}))
    return last
  }
  const started = (sessionID, type, properties) => {
    const answer = call(type, { event: { type, properties } })
    if (sessionID) starts.set(sessionID, answer.then(contextOf))
    return answer
  }
  // Whatever happens in a hook, OpenCode does not hear of it.
  const safely = (hook) => async (...args) => {
    try {
      await hook(...args)
    } catch {}
  }

  const onIdle = async (properties) => {
    const sessionID = properties?.sessionID
    const stop_hook_active = nudged.delete(sessionID)
    const answer = await call("session.idle", {
      event: { type: "session.idle", properties: { ...properties, stop_hook_active } },
    })
    const reason = answer.decision === "block" ? answer.reason : undefined
    if (typeof reason !== "string" || !reason || stop_hook_active || !sessionID) return
    nudged.add(sessionID)
    await client?.session?.promptAsync?.({
      path: { id: sessionID },
      body: { parts: [{ type: "text", text: reason, synthetic: true }] },
    })
  }

  return {
    event: safely(async ({ event }) => {
      const { type, properties } = event ?? {}
      if (!type || isEcho(type)) return
      if (type === "message.part.updated" && !isNews(properties?.part)) return
      if (type === "session.idle") return onIdle(properties)
      const sessionID = properties?.sessionID ?? properties?.info?.id
      if (type === "session.created") return void (await started(sessionID, type, properties))
      const answer = await call(type, { event })
      // What memory says after a compaction takes the place of what it said at the start.
      const context = contextOf(answer)
      if (type === "session.compacted" && context) starts.set(sessionID, Promise.resolve(context))
      if (type === "session.deleted") starts.delete(sessionID)
    }),

    "experimental.chat.system.transform": safely(async (input, output) => {
      const { sessionID } = input
      if (!sessionID || !Array.isArray(output.system) || isForTitle(output.system)) return
      // A session that began in another process is resumed here.
      if (!starts.has(sessionID)) started(sessionID, "session.resumed", { sessionID })
      const context = await starts.get(sessionID)
      if (context) output.system.push(context)
    }),

    "chat.message": safely(async (input, output) => {
      const context = contextOf(await call("chat.message", { input, output }))
      if (!context || !Array.isArray(output.parts)) return
      const id = "prt_tome" + Date.now().toString(36) + Math.random().toString(36).slice(2, 10)
      const messageID = output.message?.id ?? input.messageID
      const sessionID = input.sessionID ?? output.message?.sessionID
      output.parts.push({ id, messageID, sessionID, type: "text", text: context, synthetic: true })
    }),

    "tool.execute.after": safely(async (input, output) => {
      const context = contextOf(await call("tool.execute.after", { input, output }))
      if (!context) return
      if (typeof output.output === "string") output.output += "\n\n" + context
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: context })
    }),

    "experimental.session.compacting": safely(async (input, output) => {
      const answer = await call("experimental.session.compacting", { input })
      const context = contextOf(answer)
      if (context && Array.isArray(output.context)) output.context.push(context)
    }),
  }
}
