// The table of senders: a row each, and all that is known of one on demand.
import { byId, element } from './dom.js'
import { bytes, clock, count, seconds } from './format.js'
import { facts, keep, meter, show, spark } from './parts.js'

// kinds say how bad a state is.
const kinds = { healthy: '', 'waiting for a slot': 'warn', throttled: 'warn', 'half-open': 'warn', closing: 'warn', 'circuit open': 'bad', paused: 'bad', closed: 'quiet' }

const columns = 9

const full = (s) => s.fleet ? `${s.fleet} / ${s.name}` : s.name

export function showSenders(senders) {
  byId('senders').hidden = senders.length === 0
  byId('no-senders').hidden = senders.length > 0
  keep(byId('senders'), senders, (s) => JSON.stringify([s.fleet, s.name]), senderPart)
  const bad = senders.filter((s) => kinds[s.state] === 'bad')
  byId('trouble').hidden = bad.length === 0
  show(byId('trouble'), bad.length === 1 ? `${full(bad[0])}: ${bad[0].state}` : `${bad.length} senders do not send`)
}

function senderPart(first) {
  const toggle = element('button', { type: 'button', class: 'disclose', 'aria-expanded': 'false' }, full(first))
  const chip = element('span', { class: 'chip' }), reason = element('td', { colSpan: columns }), reasonRow = element('tr', { class: 'why', hidden: true }, reason)
  const rate = element('td', { class: 'number' }), line = spark(120), latency = element('td', { class: 'number wide' })
  const buffered = element('span', {}), fill = meter(), oldest = element('td', { class: 'number' })
  const flight = element('td', { class: 'number wide' }), failed = element('td', { class: 'number' })
  const row = element('tr', {}, element('th', { scope: 'row' }, toggle), element('td', {}, chip), rate,
    element('td', { class: 'wide' }, line.node), latency, element('td', { class: 'number wide' }, buffered, fill.node), oldest, flight, failed)
  const details = detailsPart()
  const cell = element('td', { colSpan: columns }, details.node)
  const more = element('tr', { class: 'more', hidden: true }, cell)
  let last = first
  toggle.addEventListener('click', () => {
    more.hidden = !more.hidden
    toggle.setAttribute('aria-expanded', String(!more.hidden))
    details.update(last)
  })
  return {
    node: element('tbody', {}, row, reasonRow, more),
    update(s) {
      last = s
      chip.className = `chip ${kinds[s.state] ?? 'warn'}`
      show(chip, s.state)
      show(reason, why(s))
      reasonRow.hidden = !why(s)
      show(rate, count(s.completedPerSecond))
      line.add(s.completedPerSecond)
      show(latency, s.latency ? `${seconds(s.latency.p50Millis / 1000)} / ${seconds(s.latency.p95Millis / 1000)}` : '–')
      show(buffered, `${count(s.buffer.actions)} of ${count(s.buffer.mostActions)}`)
      fill.set(Math.max(s.buffer.actions / s.buffer.mostActions, s.buffer.bytes / s.buffer.mostBytes))
      show(oldest, seconds(s.buffer.oldestSeconds))
      show(flight, `${s.requests.inFlight} of ${s.requests.mostInFlight}`)
      show(failed, count(s.counts.failed))
      failed.classList.toggle('bad-text', s.counts.failed > 0)
      if (!more.hidden) details.update(s)
    },
  }
}

function why(s) {
  if (s.state === 'healthy' && !s.reason) return ''
  return [s.reason, `since ${clock(s.since)}`, s.until && `tries again at ${clock(s.until)}`].filter(Boolean).join(', ')
}

const many = (n) => n ? count(n) : ''

function detailsPart() {
  const groups = [
    facts('Documents', [
      ['accepted', (s) => count(s.counts.accepted)], ['completed', (s) => count(s.counts.completed)], ['failed', (s) => count(s.counts.failed)],
      ['pending', (s) => count(s.buffer.actions)], ['unsent', (s) => many(s.counts.unsent)], ['purged', (s) => many(s.counts.purged)], ['withdrawn', (s) => many(s.counts.withdrawn)],
      ['superseded', (s) => many(s.counts.superseded)], ['dead letters', (s) => many(s.counts.deadLetters)], ['dead letters not written', (s) => many(s.counts.deadLetterErrors)],
      ['panics of handlers', (s) => many(s.counts.callbackPanics)],
    ]),
    facts('Buffer', [
      ['actions', (s) => `${count(s.buffer.actions)} of ${count(s.buffer.mostActions)}`], ['bytes', (s) => `${bytes(s.buffer.bytes)} of ${bytes(s.buffer.mostBytes)}`],
      ['oldest that was never sent', (s) => seconds(s.buffer.oldestSeconds)], ['calls that wait for room', (s) => count(s.buffer.blockedCalls)],
      ['set apart: the index refuses a property', (s) => many(s.buffer.setApart)],
    ]),
    facts('Requests', [
      ['in flight', (s) => `${s.requests.inFlight} of ${s.requests.mostInFlight}`], ['started', (s) => count(s.requests.started)], ['sent', (s) => `${bytes(s.bytesPerSecond)}/s`],
      ['actions sent again', (s) => many(s.requests.retriedActions)], ['actions throttled', (s) => many(s.requests.throttledActions)],
      ['divided', (s) => many(s.requests.splits)], ['pauses', (s) => many(s.requests.pauses)],
      ['longest of the last requests', (s) => s.latency ? seconds(s.latency.longestMillis / 1000) : ''],
    ]),
    facts('Limits in force', [
      ['actions a request', (s) => count(s.requests.mostBatchActions)], ['bytes a request', (s) => bytes(s.requests.mostBatchBytes)],
      ['requests in flight', (s) => count(s.requests.mostInFlight)], ['between two requests', (s) => s.requests.intervalSeconds ? seconds(s.requests.intervalSeconds) : ''],
    ]),
  ]
  const failures = element('div', {})
  let drawn = ''
  return {
    node: element('div', {}, element('div', { class: 'groups' }, ...groups.map((g) => g.node)), failures),
    update(s) {
      for (const g of groups) g.update(s)
      const now = JSON.stringify(s.failures)
      if (now === drawn) return
      drawn = now
      failures.replaceChildren(...s.failures.flatMap((f) => [
        element('h3', {}, `${count(f.count)} failed: ${f.reason}`),
        element('ul', { class: 'list' }, ...f.examples.map(example)),
      ]))
    },
  }
}

function example(e) {
  const rest = [
    e.action, e.status && !e.why?.startsWith(e.status) && `status ${e.status}`, e.why, e.attempts > 1 && `${e.attempts} attempts`, e.unknown && 'it may have been applied', e.deadLetter && 'kept as a dead letter', clock(e.time),
  ].filter(Boolean).join(' · ')
  return element('li', {}, ...(e.key ? [element('span', { class: 'key' }, e.key), ' · '] : []), rest)
}
