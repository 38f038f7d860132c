// What the page asks the emulator: its REST API for queries, and /_ui/ for what
// that does not tell.
import { parse } from './json.js'

// session is what the page is given once; see load.
export const session = { started: '', apiVersion: '', queryKey: '', presets: [] }

// load fills session.
export async function load() {
  Object.assign(session, await ask('session'))
}

// ask gets JSON from below /_ui/. An answer that is an error is thrown as one, with
// all its lines.
export async function ask(path, options) {
  const reply = await fetch('/_ui/' + path, options)
  const content = parse(await reply.text())
  if (!reply.ok) throw Object.assign(new Error(content.errors.join('\n')), { lines: content.errors })
  return content
}

// searchPath is where queries of an index go, in the spelling without quotes.
export const searchPath = (index) => `/indexes/${encodeURIComponent(index)}/docs/search?api-version=${session.apiVersion}`

// search sends a query and returns the status, the text of the reply and how long
// it took, in milliseconds. It throws if there is no reply.
export async function search(index, body, signal) {
  const began = performance.now()
  const reply = await fetch(searchPath(index), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'api-key': session.queryKey },
    body,
    signal,
  })
  const text = await reply.text()
  return { ok: reply.ok, status: reply.status, text, took: performance.now() - began }
}

// curl is the same query as a command for a POSIX shell.
export function curl(index, body) {
  return [
    `curl -sS -X POST ${quoted(location.origin + searchPath(index))}`,
    `  -H 'Content-Type: application/json'`,
    `  -H ${quoted('api-key: ' + session.queryKey)}`,
    `  -d ${quoted(body)}`,
  ].join(' \\\n')
}

const quoted = (text) => "'" + text.replaceAll("'", `'\\''`) + "'"

// serviceMessage is what the service said in the body of an error.
export function serviceMessage(status, text) {
  let error
  try {
    error = parse(text).error
  } catch {
    // Not JSON: a fault may have damaged it.
  }
  if (!error) return `${status}${text ? ': ' + text : ', without a body'}`
  const details = (error.details ?? []).map((d) => `\n${d.code}: ${d.message}`)
  return [`${status}`, error.code].filter(Boolean).join(' ') + ': ' + error.message.trim() + details.join('')
}
