// The request log, newest first.
import { byId, element } from './dom.js'
import { ask } from './emulator.js'

const most = 500 // lines on the page
const atOnce = 100 // of them that are drawn after a look that missed some: more come soon
const log = byId('log')
let last = 0 // the request that was answered last
let newest = 0 // the highest number of a request, which is how many there were

// lastRequest is what the next state is to begin after.
export const lastRequest = () => last

// showRequests adds lines, oldest first. all says that they are all that the
// emulator remembers, so that some may be missing between them and the last.
export function showRequests(requests, all) {
  if (requests.length === 0) return
  const total = requests.reduce((n, r) => Math.max(n, r.seq), newest)
  const drawn = all && last > 0 ? requests.slice(-atOnce) : requests
  const missed = total - newest - drawn.length
  if (last > 0 && all && missed > 0) log.prepend(gap(missed))
  for (const r of drawn) log.prepend(line(r))
  last = requests.at(-1).seq
  newest = total
  // The oldest go, but for those that somebody reads.
  for (const old of [...log.querySelectorAll('tr:not(.more)')].slice(most)) {
    if (!old.nextElementSibling?.classList.contains('more')) old.remove()
  }
  const lines = log.querySelectorAll('tr[data-seq]').length, faulty = log.querySelectorAll('tr[data-seq].fault').length
  byId('no-requests').hidden = true
  byId('log-summary').textContent = (lines < total ? `${lines} of ${total.toLocaleString('en')}` : `${lines}`) + ` ${total === 1 ? 'request' : 'requests'}, ${faulty} with a fault`
  byId('traffic-count').textContent = String(lines)
}

function gap(missed) {
  return element('tr', { class: 'gap' }, element('td', { colSpan: 6 }, `… about ${missed.toLocaleString('en')} requests that are not shown`))
}

function line(r) {
  const toggle = element('button', { type: 'button', class: 'disclose', 'aria-expanded': 'false', title: 'Headers and body' }, new Date(r.time).toLocaleTimeString('en-GB'))
  const status = element('td', { class: 'status' }, r.error ? 'cut' : String(r.status))
  if (r.fault) status.append(' ', element('span', { class: 'badge' }, 'fault'))
  const row = element('tr', { class: [r.fault && 'fault', (r.error || r.status >= 400) && 'failed', r.status === 207 && 'partly'].filter(Boolean).join(' ') },
    element('td', { class: 'time' }, toggle), element('td', { class: 'method' }, r.method),
    element('td', { class: 'path' }, ...(r.operation ? [element('strong', {}, r.operation), ' '] : []), element('span', {}, r.path)),
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
