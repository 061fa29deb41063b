// Tome's memory in OpenCode. Written by `tome setup`. If you edit this file, Tome keeps your
// version and stops updating it.
//
// Passes OpenCode's hooks and bus events to `tome hook opencode` and places the responses where the
// model reads them. A hook that OpenCode waits for runs its own process at once and waits for
// nothing else. Events that need no response are batched and sent at the latest when OpenCode
// exits. Each carries the time at which it happened, so the order of arrival does not matter.
// Nothing in here throws, and nothing waits longer than WAIT_MS: without Tome, OpenCode runs as if
// this file did not exist.
import { spawn, spawnSync } from "node:child_process"
import { isMainThread } from "node:worker_threads"

const TOME = ["tome"]
const WAIT_MS = 1500
// How long an event that needs no response waits for others.
const COLLECT_MS = 200
const BATCH_EVENTS_MAX = 64

// The terminal interface runs plugins in a worker. On the main thread (`opencode run`, `opencode
// serve`) there may be no user, and a prompt of ours would end up in a program's output.
const INTERACTIVE = !isMainThread

function command(event) {
  return [...TOME, "hook", "opencode", event]
}

async function run(event, input) {
  try {
    const text = await (typeof Bun === "undefined" ? runInNode : runInBun)(command(event), input)
    const answer = text.trim() ? JSON.parse(text) : {}
    return answer && typeof answer === "object" ? answer : {}
  } catch {
    return {}
  }
}

// Bun passes the complete input when it starts the process, even if OpenCode is busy or exits right
// afterwards. Through the pipe of `node:child_process` the input arrives only when the event loop
// is next idle.
function runInBun(words, input) {
  const child = Bun.spawn(words, {
    stdin: Buffer.from(input), stdout: "pipe", stderr: "ignore", windowsHide: true,
  })
  return withTimeout(new Response(child.stdout).text())
}

function runInNode([program, ...args], input) {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
  const output = new Promise((resolve) => {
    let text = ""
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdout.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => (text += part))
    child.on("close", () => resolve(text))
  })
  child.stdin.end(input)
  return withTimeout(output)
}

// A process that misses the timeout may still store the event, so it is not killed.
function withTimeout(output) {
  let timer
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, WAIT_MS, "")
  })
  return Promise.race([output, timeout]).finally(() => clearTimeout(timer))
}

// Last resort during exit, when asynchronous code no longer runs.
function runAtExit(event, input) {
  try {
    const [program, ...args] = command(event)
    if (typeof Bun !== "undefined") return void runInBun([program, ...args], input)
    const stdio = ["pipe", "ignore", "ignore"]
    spawnSync(program, args, { input, stdio, timeout: WAIT_MS, windowsHide: true })
  } catch {}
}

// A message part changes many times a second while it streams. Only finished text of the agent is
// recorded, and failed tool calls, for which OpenCode runs no hook.
function isFinished(part) {
  if (part?.type === "text") return !part.synthetic && part.time?.end !== undefined
  return part?.type === "tool" && part.state?.status === "error"
}

function sessionOf(type, properties) {
  const { sessionID, info, part } = properties
  return sessionID ?? part?.sessionID ?? (type.startsWith("session.") ? info?.id : info?.sessionID)
}

function contextOf(answer) {
  return typeof answer?.context === "string" && answer.context ? answer.context : undefined
}

// The request for a title does not need the memory.
function isForTitle(system) {
  return system.some((text) => typeof text === "string" && text.startsWith("You are a title generator"))
}

// File contents are not part of the payload.
function withoutContents(part) {
  return part?.type === "file" ? { type: "file", filename: part.filename, synthetic: part.synthetic } : part
}

export const Tome = async ({ client, directory, worktree }) => {
  const starts = new Map() // session → promise of the text for its system prompt
  const open = new Set() // sessions whose end has not been recorded
  const parents = new Map() // session of a subagent → session of its parent
  const titles = new Map() // session → the title to be sent
  const sentTitles = new Map() // session → the title that was sent last
  const summaries = new Map() // session → message and text of its current compaction
  const compacting = new Set() // sessions being compacted
  const nudged = new Set() // sessions that are working on a nudge from Tome
  const running = new Set() // processes still running
  let collected = [] // events that need no response, as JSON
  let timer

  const payloadOf = (sessionID, at, payload) => {
    const timestamp = at ?? Date.now()
    return JSON.stringify({ ...payload, timestamp, parentID: parents.get(sessionID), directory, worktree })
  }
  const send = (event, input) => {
    const answer = run(event, input)
    running.add(answer)
    return answer.finally(() => running.delete(answer))
  }
  const ask = (event, sessionID, payload, at) => send(event, payloadOf(sessionID, at, payload))
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (collected.length === 0) return
    const lines = collected.join("\n")
    collected = []
    send("batch", lines)
  }
  const collect = (event, sessionID, payload, at) => {
    collected.push(payloadOf(sessionID, at, { ev: event, ...payload }))
    if (collected.length >= BATCH_EVENTS_MAX) return flush()
    timer ??= setTimeout(flush, COLLECT_MS)
    timer.unref?.()
  }
  const start = (sessionID, type, properties, at) => {
    open.add(sessionID)
    starts.set(sessionID, ask(type, sessionID, { event: { type, properties } }, at).then(contextOf))
  }
  const resume = (sessionID, at) => start(sessionID, "session.resumed", { sessionID }, at)
  const collectTitle = (sessionID) => {
    const title = titles.get(sessionID)
    if (!title) return
    titles.delete(sessionID)
    sentTitles.set(sessionID, title)
    const [type, properties] = ["session.updated", { sessionID, info: { id: sessionID, title } }]
    collect(type, sessionID, { event: { type, properties } })
  }
  const endSessions = () => {
    for (const sessionID of open) {
      collectTitle(sessionID)
      const type = "session.ended"
      collect(type, sessionID, { event: { type, properties: { sessionID, reason: "exit" } } })
    }
    open.clear()
  }
  const onExit = () => {
    endSessions()
    if (collected.length > 0) runAtExit("batch", collected.join("\n"))
    collected = []
  }
  process.on("exit", onExit)

  // Errors in a hook must not reach OpenCode.
  const safely = (hook) => async (...args) => {
    try {
      await hook(...args)
    } catch {}
  }

  const onPart = (sessionID, event) => {
    const { part } = event.properties
    if (!isFinished(part)) return
    const summary = summaries.get(sessionID)
    if (part.type === "text" && summary?.messageID === part.messageID) {
      summary.text = summary.text ? summary.text + "\n" + part.text : part.text
      summary.at = part.time.end
      return
    }
    collect(event.type, sessionID, { event })
  }

  const onCompacted = (sessionID, { type, properties }) => {
    const summary = summaries.get(sessionID)
    summaries.delete(sessionID)
    compacting.delete(sessionID)
    const payload = { event: { type, properties: { ...properties, summary: summary?.text } } }
    if (parents.has(sessionID)) return collect(type, sessionID, payload, summary?.at)
    // The context after a compaction replaces the one from the start.
    const before = starts.get(sessionID)
    const answer = ask(type, sessionID, payload, summary?.at)
    starts.set(sessionID, answer.then((answer) => contextOf(answer) ?? before))
  }

  const onIdle = async (sessionID, { type, properties }) => {
    const stop_hook_active = nudged.delete(sessionID)
    compacting.delete(sessionID)
    collectTitle(sessionID)
    const payload = { event: { type, properties: { ...properties, stop_hook_active } } }
    if (!INTERACTIVE || parents.has(sessionID)) return collect(type, sessionID, payload)
    flush()
    const answer = await ask(type, sessionID, payload)
    const reason = answer.decision === "block" ? answer.reason : undefined
    if (typeof reason !== "string" || !reason || stop_hook_active) return
    nudged.add(sessionID)
    await client?.session?.promptAsync?.({
      path: { id: sessionID },
      body: { parts: [{ type: "text", text: reason, synthetic: true }] },
    })
  }

  // OpenCode repeats the whole session on every change. A new title waits for the next idle, so
  // that it needs no process of its own.
  const onTitle = (sessionID, info) => {
    if (info?.title && !info.parentID && info.title !== sentTitles.get(sessionID)) titles.set(sessionID, info.title)
  }

  // OpenCode does not await this handler. Events not named here are not recorded; there are dozens
  // at every start.
  const onEvent = (event) => {
    const { type, properties } = event
    const sessionID = sessionOf(type, properties)
    if (!sessionID) return
    const info = properties.info
    switch (type) {
      case "session.created":
        if (info?.parentID) parents.set(sessionID, info.parentID)
        if (info?.parentID) return collect(type, sessionID, { event })
        return start(sessionID, type, properties)
      case "session.updated":
        if (info?.parentID) parents.set(sessionID, info.parentID)
        return onTitle(sessionID, info)
      case "message.updated":
        if (info?.summary === true) summaries.set(sessionID, { ...summaries.get(sessionID), messageID: info.id })
        return
      case "message.part.updated":
        return onPart(sessionID, event)
      case "session.compacted":
        return onCompacted(sessionID, event)
      case "session.idle":
        return onIdle(sessionID, event)
      case "session.error":
      case "command.executed":
        return collect(type, sessionID, { event })
      case "session.deleted":
        collect(type, sessionID, { event })
        for (const known of [starts, open, parents, titles, sentTitles, summaries, compacting, nudged]) known.delete(sessionID)
    }
  }

  return {
    event: safely(({ event }) => event?.type && event.properties && onEvent(event)),

    "experimental.chat.system.transform": safely(async ({ sessionID }, output) => {
      if (!sessionID || !Array.isArray(output.system) || isForTitle(output.system)) return
      if (parents.has(sessionID) || compacting.has(sessionID)) return
      // A session from another process continues here.
      if (!starts.has(sessionID)) resume(sessionID)
      const context = await starts.get(sessionID)
      if (context) output.system.push(context)
    }),

    "chat.message": safely(async (input, output) => {
      const { message, parts } = output
      const sessionID = input.sessionID ?? message?.sessionID
      if (!sessionID || !Array.isArray(parts)) return
      compacting.delete(sessionID)
      const payload = { input, output: { message, parts: parts.map(withoutContents) } }
      if (parents.has(sessionID)) return collect("chat.message", sessionID, payload)
      if (!starts.has(sessionID)) resume(sessionID, (message?.time?.created ?? Date.now()) - 1)
      open.add(sessionID)
      const context = contextOf(await ask("chat.message", sessionID, payload))
      if (!context) return
      const id = "prt_tome" + Date.now().toString(36) + Math.random().toString(36).slice(2, 10)
      const messageID = message?.id ?? input.messageID
      parts.push({ id, messageID, sessionID, type: "text", text: context, synthetic: true })
    }),

    "tool.execute.after": safely(async (input, output) => {
      const { sessionID } = input
      if (!sessionID) return
      if (parents.has(sessionID)) return collect("tool.execute.after", sessionID, { input, output })
      const context = contextOf(await ask("tool.execute.after", sessionID, { input, output }))
      if (!context) return
      if (typeof output.output === "string") output.output += "\n\n" + context
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: context })
    }),

    "experimental.session.compacting": safely(({ sessionID }) => void compacting.add(sessionID)),

    // Start the process before awaiting anything: the terminal interface does not wait for this.
    dispose: safely(async () => {
      process.off("exit", onExit)
      endSessions()
      flush()
      await Promise.allSettled([...running])
    }),
  }
}
