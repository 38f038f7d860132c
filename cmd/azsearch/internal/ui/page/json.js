// JSON as the service wrote it. A JavaScript number has 53 bits and an Edm.Int64
// has 64, so numbers that would come out differently are kept as their text.
import { element } from './dom.js'

const canKeepText = typeof JSON.rawJSON === 'function'

// parse reads JSON; numbers that a JavaScript number cannot say are raw JSON.
export function parse(text) {
  if (!canKeepText) return JSON.parse(text)
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value)
}

const isRaw = (value) => canKeepText && JSON.isRawJSON(value)
const isLeaf = (value) => value === null || typeof value !== 'object' || isRaw(value)

// toNumber is the nearest JavaScript number.
export const toNumber = (value) => Number(isRaw(value) ? value.rawJSON : value)

// write is the text of what parse returned.
export const write = (value) => JSON.stringify(value, null, 2)

// inline is the text on one line, with spaces.
function inline(value) {
  if (isLeaf(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return '[' + value.map(inline).join(', ') + ']'
  return '{' + Object.entries(value).map(([name, v]) => JSON.stringify(name) + ': ' + inline(v)).join(', ') + '}'
}

// brief is the text of a value in a line that will be cut off anyway.
export function brief(value) {
  if (typeof value === 'string') return value.slice(0, 200)
  if (Array.isArray(value) && value.length > shownNumbers && value.every((v) => typeof v === 'number' || isRaw(v))) return `[${value.length} numbers]`
  return inline(value).slice(0, 200)
}

const lineLength = 72 // characters up to which an object or a list stays on a line
const shownNumbers = 8 // of a list of numbers that is longer than a line

// render returns a <pre> of the value: indented, coloured, short lists on one
// line and vectors cut off. dataset.text is the whole text.
export function render(value) {
  const pre = element('pre', { class: 'json', tabIndex: 0 })
  append(pre, value, '')
  pre.dataset.text = write(value)
  return pre
}

function append(to, value, indent) {
  if (isLeaf(value)) {
    to.append(leaf(value))
    return
  }
  const list = Array.isArray(value)
  const entries = list ? value.map((v) => [null, v]) : Object.entries(value)
  const open = list ? '[' : '{', close = list ? ']' : '}'
  const flat = entries.every(([, v]) => isLeaf(v))
  if (entries.length === 0 || flat && inline(value).length <= lineLength) {
    to.append(open)
    entries.forEach((entry, i) => appendEntry(to, entry, i > 0 ? ', ' : '', indent))
    to.append(close)
    return
  }
  if (list && entries.every(([, v]) => typeof v === 'number' || isRaw(v))) {
    to.append(open)
    entries.slice(0, shownNumbers).forEach((entry) => appendEntry(to, entry, '', indent, ', '))
    to.append(element('span', { class: 'muted' }, `… ${entries.length - shownNumbers} more`), close)
    return
  }
  const inner = indent + '  '
  to.append(open)
  entries.forEach((entry, i) => appendEntry(to, entry, (i > 0 ? ',' : '') + '\n' + inner, inner))
  to.append('\n' + indent + close)
}

function appendEntry(to, [name, value], before, indent, after = '') {
  to.append(before)
  if (name !== null) to.append(element('span', { class: 'name' }, JSON.stringify(name)), ': ')
  append(to, value, indent)
  to.append(after)
}

function leaf(value) {
  if (typeof value === 'string') return element('span', { class: 'string' }, JSON.stringify(value))
  if (value === null || typeof value === 'boolean') return element('span', { class: 'literal' }, String(value))
  return element('span', { class: 'literal' }, JSON.stringify(value))
}
