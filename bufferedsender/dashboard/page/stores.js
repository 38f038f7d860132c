// Fleets, queues and outboxes: a card each.
import { byId, element, showProblem } from './dom.js'
import { bytes, clock, count, seconds } from './format.js'
import { facts, keep, show } from './parts.js'

const named = (t) => t.name
const many = (n) => n ? count(n) : ''

// card returns a part with a title, chips and facts, and a button that asks for more if more is given.
function card(rows, chips, more) {
  return (first) => {
    const list = facts('', rows), marks = element('p', {})
    const node = element('article', { class: 'card', 'aria-label': first.name }, element('h3', {}, first.name), marks, list.node)
    if (more) node.append(...more(first.name))
    return {
      node,
      update(thing) {
        list.update(thing)
        const texts = chips(thing).filter(([text]) => text)
        const now = JSON.stringify(texts)
        if (marks.dataset.now === now) return
        marks.dataset.now = now
        marks.replaceChildren(...texts.map(([text, kind]) => element('span', { class: `chip ${kind}` }, text)))
      },
    }
  }
}

// ask gets JSON from beside the page.
export async function ask(path) {
  const reply = await fetch(path)
  const content = await reply.json()
  if (!reply.ok) throw new Error(content.errors.join('\n'))
  return content
}

// entryText says where a key is.
export const entryText = (e) => [
  e.state, e.since && `since ${clock(e.since)}`, e.holder && `held by ${e.holder}`, e.until && `until ${clock(e.until)}`, e.due && `due ${clock(e.due)}`,
  e.reason, e.status && `status ${e.status}`, e.tries && `${e.tries} tries`,
].filter(Boolean).join(' · ')

export const entryItem = (e) => element('li', {}, ...(e.key ? [element('span', { class: 'key' }, e.key), ' · '] : []), entryText(e))

// oldestOf makes the button that lists the oldest of a queue or an outbox.
const oldestOf = (kind, label) => (name) => {
  const problem = element('p', { class: 'error', role: 'alert', hidden: true }), list = element('ul', { class: 'list', 'aria-live': 'polite' })
  const button = element('button', { type: 'button' }, label)
  button.addEventListener('click', async () => {
    button.disabled = true
    try {
      const { entries } = await ask(`oldest?${kind}=${encodeURIComponent(name)}`)
      list.replaceChildren(...(entries.length ? entries.map(entryItem) : [element('li', {}, 'none')]))
      showProblem(problem)
    } catch (e) {
      showProblem(problem, e.message)
    }
    button.disabled = false
  })
  return [button, problem, list]
}

const fleet = card([
  ['indexes known', (f) => count(f.indexes)], ['with a sender', (f) => count(f.senders)],
  ['slots in use', (f) => `${f.classes.reduce((n, c) => n + c.inUse, 0)} of ${f.slots}`],
  ['requests that wait for a slot', (f) => f.classes.filter((c) => c.waiting).map((c) => `${c.waiting} ${c.name}`).join(', ') || '0'],
  ['late requests', (f) => many(f.late)],
  ['room for actions', (f) => f.mostActions ? `${count(f.grantedActions)} of ${count(f.mostActions)}` : count(f.grantedActions)],
  ['room for bytes', (f) => f.mostBytes ? `${bytes(f.grantedBytes)} of ${bytes(f.mostBytes)}` : bytes(f.grantedBytes)],
  ['senders that wait for room', (f) => many(f.waitingForRoom)],
], (f) => [[f.service, 'bad']])

const queue = card([
  ['keys waiting', (q) => count(q.waiting)], ['leased', (q) => count(q.leased)], ['parked', (q) => count(q.parked)], ['oldest', (q) => seconds(q.oldestSeconds)],
  ['size', (q) => bytes(q.bytes)], ['leases that ran out', (q) => many(q.expiredLeases)], ['asked for keys last', (q) => q.lastReserved ? clock(q.lastReserved) : 'never'],
  ['survives', (q) => q.survives ?? ''],
], (q) => [[q.paused && `paused${q.pauseReason ? ': ' + q.pauseReason : ''}`, 'bad'], [q.fault, 'bad'], [q.parked && `${count(q.parked)} parked`, 'warn'], [q.estimated && 'estimated', 'quiet'], [stale(q), 'bad']],
oldestOf('queue', 'Show the oldest'))

const outbox = card([
  ['rows waiting', (o) => (o.estimated ? 'about ' : '') + count(o.rows)], ['oldest', (o) => seconds(o.oldestSeconds)], ['dead letters', (o) => count(o.deadLetters)],
  ['oldest transaction', (o) => o.oldestTransactionSeconds ? seconds(o.oldestTransactionSeconds) : ''],
  ['ranges of this relay', (o) => o.relay ? `${o.relay.ranges} of 64` : ''], ['rows in hand', (o) => o.relay ? count(o.relay.inHand) : ''],
  ['rows that wait after a failure', (o) => many(o.relay?.aside)], ['rows read', (o) => o.relay ? count(o.relay.read) : ''], ['confirmed', (o) => o.relay ? count(o.relay.deleted) : ''],
  ['became dead letters', (o) => many(o.relay?.dead)], ['leases lost', (o) => many(o.relay?.leasesLost)],
], (o) => [[o.paused && 'paused', 'bad'], [o.relay?.notReady && `relay not ready: ${o.relay.notReady}`, 'bad'], [o.deadLetters && `${count(o.deadLetters)} dead letters`, 'warn'], [stale(o), 'bad']],
oldestOf('outbox', 'Show dead letters'))

const stale = (t) => t.error && `${t.error}${t.at ? `; numbers of ${clock(t.at)}` : ''}`

export function showStores(state) {
  for (const [id, things, make] of [['fleets', state.fleets, fleet], ['queues', state.queues, queue], ['outboxes', state.outboxes, outbox]]) {
    byId(id + '-section').hidden = things.length === 0
    keep(byId(id), things, named, make)
  }
}

// The form that finds a key.
const form = byId('find')
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const key = form.elements.key.value
  show(byId('find-summary'), 'looking …')
  try {
    const { places } = await ask('find?key=' + encodeURIComponent(key))
    const found = places.filter((p) => p.found).length
    show(byId('find-summary'), found ? `found in ${found} of ${places.length}` : `not found in ${places.length}: it is settled, or was never accepted here`)
    byId('places').replaceChildren(...places.filter((p) => p.found || p.error).map((p) => element('li', {}, element('strong', {}, `${p.kind} ${p.name}`), ' ',
      p.error ? element('span', { class: 'bad-text' }, p.error) : (p.entries ?? []).map(entryText).join('; ') || 'accepted and not settled')))
    showProblem(byId('find-error'))
  } catch (e) {
    show(byId('find-summary'), '')
    byId('places').replaceChildren()
    showProblem(byId('find-error'), e.message)
  }
})
