// The list of indexes, and of the chosen one its fields and its documents.
import { followed, open, opened } from './address.js'
import { byId, element } from './dom.js'
import { ask } from './emulator.js'
import { brief, render, write } from './json.js'
import { leave } from './others.js'
import { preview, useIndex } from './search.js'

const pageSize = 20
const state = {
  indexes: [], chosen: '', revision: '', key: '', // what is chosen, and its key field
  skip: 0, seen: '', drawn: '', asked: 0, // of the documents: see showDocuments
}
const panel = byId('panel-documents')

// version stands for what there is in an index now.
const version = (index) => `${index.revision}/${index.changes}`

// inList is the text of what the list shows, or chooses, of indexes.
const inList = (indexes) => JSON.stringify(indexes, ['name', 'documents', 'revision'])

// showIndexes shows the list as it is now. If the chosen index is gone, or nothing
// was chosen, the first one is chosen.
export async function showIndexes(indexes) {
  const changed = inList(indexes) !== inList(state.indexes)
  state.indexes = indexes
  if (changed) drawList()
  const wanted = indexes.find((i) => i.name === state.chosen) ?? indexes.find((i) => i.name === opened.index) ?? indexes[0]
  if (!wanted) {
    chooseNone()
    return
  }
  if (wanted.name !== state.chosen || wanted.revision !== state.revision) await choose(wanted)
  else if (version(wanted) !== state.seen) await Promise.all([showDocuments(), previewed !== version(wanted) && look(wanted)])
}

followed(() => {
  const named = state.indexes.find((i) => i.name === opened.index)
  if (!named) {
    open({ index: state.chosen })
  } else if (named.name !== state.chosen) {
    leave()
    choose(named)
  }
})

// look shows the beginning of the index where nothing was searched for yet.
let previewed = ''
async function look(index) {
  previewed = version(index)
  await preview()
}

function chooseNone() {
  Object.assign(state, { chosen: '', revision: '' })
  byId('index-title').textContent = 'No index'
  byId('fields').replaceChildren()
  byId('definition').textContent = ''
  clearDocuments()
  useIndex('')
}

function drawList() {
  const focused = document.activeElement?.dataset?.index
  byId('indexes').replaceChildren(...state.indexes.map((index) => element('li', {}, listButton(index))))
  if (focused !== undefined) [...byId('indexes').querySelectorAll('button')].find((b) => b.dataset.index === focused)?.focus()
  byId('no-indexes').hidden = state.indexes.length > 0
  markChosen()
}

function listButton(index) {
  const button = element('button', { type: 'button', onclick: () => { leave(); choose(index) } },
    element('span', { class: 'index-label' }, index.name), element('span', { class: 'muted' }, index.documents.toLocaleString('en')))
  button.dataset.index = index.name
  return button
}

function markChosen() {
  for (const button of byId('indexes').querySelectorAll('button')) {
    if (button.dataset.index === state.chosen) button.setAttribute('aria-current', 'true')
    else button.removeAttribute('aria-current')
  }
}

async function choose(index) {
  const other = index.name !== state.chosen
  Object.assign(state, { chosen: index.name, revision: index.revision })
  if (other) {
    state.skip = 0
    clearDocuments()
    open({ index: index.name })
  }
  markChosen()
  let definition
  try {
    definition = await ask('definition?index=' + encodeURIComponent(index.name))
  } catch {
    state.revision = '' // it was deleted just now: the next state says so
    return
  }
  if (state.chosen !== index.name) return
  state.key = definition.fields.find((f) => f.key)?.name
  useIndex(index.name, definition)
  showFields(definition)
  if (byId('panel-other').hidden) byId('index-title').textContent = index.name
  await Promise.all([showDocuments(), look(index)])
}

function showFields(definition) {
  byId('fields').replaceChildren(...fieldRows(definition.fields, 0))
  byId('definition').textContent = write(definition)
}

const attributes = ['key', 'searchable', 'filterable', 'sortable', 'facetable']

// fieldRows are the rows of fields and of those inside of them.
function fieldRows(fields, depth) {
  return fields.flatMap((f) => {
    const name = element('td', { class: 'field-name' }, f.name)
    name.style.setProperty('--depth', depth)
    const words = attributes.filter((a) => f[a]).map((a) => chip(a))
    if (f.retrievable === false) words.push(chip('hidden', 'quiet'))
    if (f.stored === false) words.push(chip('not stored', 'quiet'))
    for (const member of ['analyzer', 'indexAnalyzer', 'searchAnalyzer', 'normalizer', 'vectorSearchProfile', 'vectorEncoding']) {
      if (f[member]) words.push(chip(`${member} ${f[member]}`, 'quiet'))
    }
    if (f.dimensions) words.push(chip(`${f.dimensions} dimensions`, 'quiet'))
    for (const map of f.synonymMaps ?? []) words.push(chip(`synonyms ${map}`, 'quiet'))
    const row = element('tr', {}, name, element('td', { class: 'type' }, f.type.replaceAll('Edm.', '')), element('td', {}, ...words))
    return [row, ...fieldRows(f.fields ?? [], depth + 1)]
  })
}

const chip = (text, kind = '') => element('span', { class: `chip ${kind}` }, text)

function clearDocuments() {
  state.seen = state.drawn = ''
  state.asked++
  byId('documents').replaceChildren()
  byId('documents-summary').textContent = ''
}

// showDocuments shows a page of the documents as they are now, if somebody can see
// it. state.seen is the version of the index that it was asked for, so that it is
// asked for again when there is another one.
async function showDocuments() {
  if (!state.chosen || !panel.checkVisibility()) return
  const index = state.chosen, skip = state.skip, asked = ++state.asked
  const seen = state.indexes.filter((i) => i.name === index).map(version).join()
  state.seen = seen
  let page
  try {
    page = await ask(`documents?index=${encodeURIComponent(index)}&skip=${skip}&top=${pageSize}`)
  } catch (e) {
    if (asked !== state.asked) return
    clearDocuments()
    byId('documents-summary').textContent = e.message
    return
  }
  if (asked !== state.asked) return // by now it is asked for something else
  if (page.documents.length === 0 && skip > 0) {
    state.skip = Math.max(0, Math.ceil(page.count / pageSize) - 1) * pageSize
    return showDocuments()
  }
  // What is there already stays: somebody may be about to click on it. Whether a
  // document that was cut off is the same, only the version tells.
  const drawn = JSON.stringify([index, skip, page, page.documents.every((d) => d.document) || seen])
  if (drawn === state.drawn) return
  state.drawn = drawn
  byId('documents').start = skip + 1
  const open = new Set([...byId('documents').querySelectorAll('details[open]')].map((d) => d.dataset.key))
  byId('documents').replaceChildren(...page.documents.map((d) => documentItem(index, d, open.has(d.key))))
  byId('documents-summary').textContent = page.documents.length
    ? `${skip + 1}–${skip + page.documents.length} of ${page.count.toLocaleString('en')}, in the order of writing`
    : 'no documents'
  byId('documents-previous').disabled = skip === 0
  byId('documents-next').disabled = skip + page.documents.length >= page.count
}

// documentItem is a document in the list. One that is not there as a whole is
// asked for when it is opened.
function documentItem(index, { key, document, beginning }, open) {
  const rest = document
    ? Object.entries(document).filter(([name]) => name !== state.key).map(([, value]) => brief(value)).join(' · ')
    : (beginning ?? '').replace(/\\u[0-9a-f]{4}/g, (escape) => JSON.parse(`"${escape}"`)) + '…'
  const box = element('details', {}, element('summary', {}, element('span', { class: 'key' }, key), element('span', { class: 'rest' }, rest)))
  box.dataset.key = key
  box.addEventListener('toggle', async () => {
    if (!box.open || box.childElementCount > 1) return
    const content = element('div', {}, 'loading …')
    box.append(content)
    try {
      document ??= await ask(`document?index=${encodeURIComponent(index)}&key=${encodeURIComponent(key)}`)
      content.replaceChildren(render(document))
    } catch (e) {
      content.textContent = e.message
    }
  })
  box.open = open
  return element('li', {}, box)
}

function turn(by) {
  state.skip = Math.max(0, state.skip + by)
  showDocuments()
}

byId('documents-previous').addEventListener('click', () => turn(-pageSize))
byId('documents-next').addEventListener('click', () => turn(pageSize))
byId('documents-refresh').addEventListener('click', () => turn(0))
byId('tab-documents').addEventListener('focus', () => turn(0))
