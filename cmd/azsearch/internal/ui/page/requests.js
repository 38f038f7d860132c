// The request log, newest first.
import { byId, element } from './dom.js'
import { ask } from './emulator.js'

const most = 500 // lines on the page
const log = byId('log')
let last = 0 // the request that was answered last
let lines = 0, faulty = 0

// lastRequest is what the next state is to begin after.
export const lastRequest = () => last

// showRequests adds lines, oldest first. all says that they are everything there
// is, and that the lines before them are not connected to them.
export function showRequests(requests, all) {
  if (all && (lines > 0 || requests.length > 0)) {
    log.replaceChildren()
    lines = faulty = 0
  }
  if (all) last = 0
  for (const r of requests) {
    log.prepend(line(r))
    last = r.seq
    lines++
    if (r.fault) faulty++
  }
  for (const old of [...log.children].filter((row) => !row.classList.contains('more')).slice(most)) {
    if (old.classList.contains('fault')) faulty--
    if (old.nextElementSibling?.classList.contains('more')) old.nextElementSibling.remove()
    old.remove()
    lines--
  }
  byId('no-requests').hidden = lines > 0
  byId('log-summary').textContent = lines ? `${lines}, ${faulty} with a fault` : ''
  byId('traffic-count').textContent = lines ? String(lines) : ''
}

function line(r) {
  const toggle = element('button', { type: 'button', class: 'disclose', 'aria-expanded': 'false', title: 'Headers and body' }, new Date(r.time).toLocaleTimeString('en-GB'))
  const status = element('td', { class: 'status' }, r.error ? 'cut' : String(r.status))
  if (r.fault) status.append(' ', element('span', { class: 'badge' }, 'fault'))
  const row = element('tr', { class: [r.fault && 'fault', (r.error || r.status >= 400) && 'failed', r.status === 207 && 'partly'].filter(Boolean).join(' ') },
    element('td', { class: 'time' }, toggle), element('td', { class: 'method' }, r.method),
    element('td', { class: 'path', title: r.path }, r.path), element('td', { class: 'index-name', title: r.index }, r.index),
    element('td', { class: 'number actions' }, r.actions ? String(r.actions) : ''), status, element('td', { class: 'number' }, duration(r.ms)))
  row.dataset.seq = r.seq
  row.addEventListener('click', (event) => {
    // Text that is being selected is no click.
    if (getSelection().isCollapsed || event.target === toggle) open(row, toggle)
  })
  return row
}

function duration(ms) {
  if (ms >= 10_000) return (ms / 1000).toFixed(0) + ' s'
  if (ms >= 1000) return (ms / 1000).toFixed(2) + ' s'
  return (ms < 10 ? ms.toFixed(1) : ms.toFixed(0)) + ' ms'
}

// open shows or hides what else is known of a request.
async function open(row, toggle) {
  const shown = row.nextElementSibling
  if (shown?.classList.contains('more')) {
    shown.remove()
    toggle.setAttribute('aria-expanded', 'false')
    return
  }
  toggle.setAttribute('aria-expanded', 'true')
  // A narrow page does without some of the columns.
  const columns = [...row.children].filter((cell) => cell.checkVisibility()).length
  const cell = element('td', { colSpan: columns }, 'loading …')
  row.after(element('tr', { class: row.classList.contains('fault') ? 'more fault' : 'more' }, cell))
  try {
    cell.replaceChildren(...details(await ask('requests/' + row.dataset.seq)))
  } catch (e) {
    cell.textContent = e.message
  }
}

function details(r) {
  const headers = element('dl', {}, ...r.headers.flatMap((h) => [element('dt', {}, h.name), element('dd', {}, h.value)]))
  const bytes = new TextEncoder().encode(r.body).length
  return [
    element('p', { class: 'url' }, `${r.method} ${r.url}`),
    element('p', { class: 'muted' }, [`request ${r.requestId}`, r.clientRequestId && `client's id ${r.clientRequestId}`, r.actions && `${r.actions} actions`, r.error && `no reply: ${r.error}, it would have been ${r.status}`].filter(Boolean).join(' · ')),
    headers,
    ...(r.bodyBytes ? [element('p', { class: 'muted' }, bytes < r.bodyBytes ? `the first ${bytes} of ${r.bodyBytes} bytes` : `${r.bodyBytes} bytes`), element('pre', { tabIndex: 0 }, r.body)] : []),
  ]
}

byId('faults-only').addEventListener('change', (event) => log.classList.toggle('only-faults', event.target.checked))
