// The search tab: a query, what it found, and the facets to narrow it down by.
import { byId, element, markedText, showProblem } from './dom.js'
import { ask, curl, search, serviceMessage } from './emulator.js'
import { examples } from './examples.js'
import { and, bucketFilter } from './filter.js'
import { brief, parse, render, toNumber, write } from './json.js'

const form = byId('query')
const state = { index: '', fields: [], key: '', abort: null, asked: false } // asked: somebody has sent a query

// useIndex makes an index the one that is searched, "" none. What was found in
// another one goes away.
export function useIndex(name, definition = { fields: [] }) {
  const other = name !== state.index
  state.index = name
  state.fields = definition.fields
  state.key = definition.fields.find((f) => f.key)?.name
  if (other) {
    state.abort?.abort()
    state.asked = false
    form.reset()
    byId('summary').textContent = ''
    showProblem(byId('query-error'))
    for (const id of ['reply', 'wire']) byId(id).hidden = true
  }
  for (const [control, text] of Object.entries(examples(state.fields))) form.elements[control].placeholder = text
}

const previewed = 10 // documents

// preview shows the first documents until there is a query. It sends none, which would be in the log and could meet a
// fault, and leaves out what a query would not return.
export async function preview() {
  if (!state.index || state.asked) return
  const index = state.index, fields = state.fields
  let page
  try {
    page = await ask(`documents?index=${encodeURIComponent(index)}&top=${previewed}`)
  } catch {
    return // it was deleted just now
  }
  if (state.asked || state.index !== index) return
  const hidden = new Set(fields.filter((f) => f.retrievable === false).map((f) => f.name))
  const documents = page.documents.map((d) => d.document ? Object.fromEntries(Object.entries(d.document).filter(([name]) => !hidden.has(name))) : { [state.key]: d.key })
  byId('summary').textContent = page.count === 0 ? 'no documents yet' : documents.length < page.count ? `the first ${documents.length} of ${page.count.toLocaleString('en')}, in the order of writing` : `all ${page.count}, in the order of writing`
  byId('hits').start = 1
  byId('hits').replaceChildren(...documents.map((d) => hit(d, {})))
  byId('facets').hidden = true
  byId('reply').hidden = page.count === 0
  byId('reply').classList.add('unasked')
  pager(0, 0, false)
}

// request returns the body that the form stands for. What is left at the default
// of the service is left out.
export function request() {
  const value = (name) => form.elements[name].value.trim()
  const body = {}
  if (value('search')) body.search = value('search')
  if (value('queryType') !== 'simple') body.queryType = value('queryType')
  if (value('searchMode') !== 'any') body.searchMode = value('searchMode')
  for (const name of ['filter', 'orderby', 'select', 'highlight']) {
    if (value(name)) body[name] = value(name)
  }
  const facets = value('facets').split('\n').map((line) => line.trim()).filter(Boolean)
  if (facets.length) body.facets = facets
  if (value('top')) body.top = Number(value('top'))
  if (Number(value('skip'))) body.skip = Number(value('skip'))
  if (form.elements.count.checked) body.count = true
  return Object.assign(body, otherParameters(value('other')))
}

function otherParameters(text) {
  if (!text) return {}
  let other
  try {
    other = parse(text)
  } catch (e) {
    throw new Error('Other parameters: ' + e.message)
  }
  if (other === null || typeof other !== 'object' || Array.isArray(other)) throw new Error('Other parameters: this is not a JSON object')
  return other
}

async function run() {
  if (!state.index) return
  state.asked = true
  byId('reply').classList.remove('unasked')
  state.abort?.abort()
  const abort = state.abort = new AbortController()
  const problem = byId('query-error')
  let body
  try {
    body = request()
  } catch (e) {
    fail(e.message)
    return
  }
  byId('request-json').textContent = write(body)
  byId('request-curl').textContent = curl(state.index, JSON.stringify(body))
  byId('reply-json').textContent = ''
  byId('wire').hidden = false
  byId('summary').textContent = 'searching …'
  showProblem(problem)
  let reply
  try {
    reply = await search(state.index, JSON.stringify(body), abort.signal)
  } catch (e) {
    if (!abort.signal.aborted) fail('No reply: ' + e.message)
    return
  }
  byId('reply-json').textContent = reply.text
  if (!reply.ok) {
    fail(serviceMessage(reply.status, reply.text))
    return
  }
  let found
  try {
    found = parse(reply.text)
  } catch (e) {
    fail('The reply is not JSON: ' + e.message)
    return
  }
  byId('reply-json').textContent = write(found)
  show(found, body, reply.took)
}

function fail(message) {
  showProblem(byId('query-error'), message)
  byId('summary').textContent = ''
  byId('reply').hidden = true
}

function show(found, body, took) {
  const documents = found.value ?? []
  const skip = toNumber(body.skip ?? 0), count = found['@odata.count']
  const range = documents.length ? `${skip + 1}–${skip + documents.length}` : 'none'
  byId('summary').textContent = [
    count === undefined ? `documents ${range}` : `${count} ${count === 1 ? 'document' : 'documents'}, ${documents.length ? 'these are ' : ''}${range}`,
    `${Math.round(took)} ms`,
  ].join(' · ')
  byId('hits').start = skip + 1
  byId('hits').replaceChildren(...documents.map((d) => hit(d, body)))
  showFacets(found['@search.facets'] ?? {}, body.facets ?? [])
  // The service says that there is more when it cut the page off; the page that
  // was asked for can be full all the same.
  const rest = found['@search.nextPageParameters']
  const full = documents.length > 0 && documents.length === toNumber(body.top ?? 50) && (count === undefined || skip + documents.length < count)
  pager(skip, documents.length, rest !== undefined || full)
  byId('reply').hidden = false
}

function pager(skip, shown, more) {
  const previous = byId('previous'), next = byId('next')
  const goTo = (to) => () => {
    form.elements.skip.value = to
    run()
  }
  previous.disabled = skip === 0
  previous.onclick = goTo(Math.max(0, skip - Number(form.elements.top.value || 50)))
  next.disabled = !more
  next.onclick = goTo(skip + shown)
}

// hit is one document: a line, what was marked in it, and all of it on demand.
function hit(document, body) {
  const fields = Object.entries(document).filter(([name]) => !name.startsWith('@'))
  const key = document[state.key]
  const line = element('summary', {},
    element('span', { class: 'score', title: '@search.score' }, '@search.score' in document ? toNumber(document['@search.score']).toFixed(3) : ''),
    element('span', { class: 'key' }, key ?? ''),
    element('span', { class: 'rest' }, fields.filter(([name]) => name !== state.key).map(([, v]) => brief(v)).join(' · ')))
  const box = element('details', {}, line)
  box.addEventListener('toggle', () => {
    if (box.open && box.childElementCount === 1) box.append(render(document))
  })
  const item = element('li', {}, box)
  for (const [field, fragments] of Object.entries(document['@search.highlights'] ?? {})) {
    if (!Array.isArray(fragments)) continue // the annotation of their type
    for (const fragment of fragments) {
      item.append(element('p', { class: 'highlight' }, element('span', { class: 'muted' }, field + ' '),
        ...markedText(fragment, body.highlightPreTag, body.highlightPostTag)))
    }
  }
  return item
}

function showFacets(facets, asked) {
  const groups = []
  for (const [name, buckets] of Object.entries(facets)) {
    if (!Array.isArray(buckets)) continue // the annotation of their type
    const facet = asked.find((a) => a.split(',')[0].trim() === name) ?? name
    groups.push(element('div', { class: 'facet', role: 'group', 'aria-label': name }, element('h3', {}, name),
      ...buckets.map((b) => bucketButton(facet, b))))
  }
  byId('facets').replaceChildren(...groups)
  byId('facets').hidden = groups.length === 0
}

function bucketButton(facet, bucket) {
  const condition = bucketFilter(state.fields, facet, bucket)
  const filter = form.elements.filter
  const text = (v) => typeof v === 'string' ? v : JSON.stringify(v)
  const label = 'from' in bucket || 'to' in bucket
    ? `${'from' in bucket ? text(bucket.from) : '…'} – ${'to' in bucket ? text(bucket.to) : '…'}`
    : text(bucket.value)
  const problem = condition === null ? 'There is no filter for this.'
    : /[\r\n]/.test(condition) ? 'The filter above has one line, and this value has several.'
      : ''
  return element('button', {
    type: 'button', class: 'bucket', disabled: problem !== '', title: problem || condition,
    onclick: () => {
      filter.value = and(filter.value, condition)
      form.elements.skip.value = 0
      run()
    },
  }, element('span', { class: 'value' }, label), ' ', element('span', { class: 'muted' }, String(bucket.count)))
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  form.elements.skip.value ||= 0
  run()
})
// Another query begins with its first page.
form.addEventListener('input', (event) => {
  if (!['skip', 'count'].includes(event.target.name)) form.elements.skip.value = 0
})
// Ctrl+Enter sends the query, also from the fields of many lines.
form.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
})
