// Parts of the page that stay in place while what they show changes: a reader may be about to click on them.
import { element } from './dom.js'

// show sets the text of a node if it is another one.
export function show(node, text) {
  if (node.textContent !== text) node.textContent = text
}

// facts returns a list of labels and values, and what updates it. rows are pairs of a label and a function of the
// thing that returns its text, or '' to leave the row out.
export function facts(title, rows) {
  const list = element('dl', { class: 'facts' })
  const made = rows.map(([label, text]) => {
    const dt = element('dt', {}, label), dd = element('dd', {})
    list.append(dt, dd)
    return (thing) => {
      const now = text(thing)
      dt.hidden = dd.hidden = now === ''
      show(dd, now)
    }
  })
  const node = title ? element('div', {}, element('h3', {}, title), list) : list
  return { node, update: (thing) => made.forEach((update) => update(thing)) }
}

// keep keeps one part for each thing in a container, in the order of the things. make returns {node, update}.
export function keep(container, things, keyOf, make) {
  const parts = container.parts ??= new Map()
  const keys = new Set(things.map(keyOf))
  for (const [key, part] of parts) {
    if (keys.has(key)) continue
    part.node.remove()
    parts.delete(key)
  }
  let before = null
  for (const thing of things) {
    const key = keyOf(thing)
    if (!parts.has(key)) {
      const part = make(thing)
      parts.set(key, part)
      if (before) before.after(part.node)
      else container.append(part.node)
    }
    const part = parts.get(key)
    part.update(thing)
    before = part.node
  }
}

const drawn = (tag, attributes) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  return made
}

// spark returns a line of what was, and what adds to it.
export function spark(most) {
  const line = drawn('polyline', { points: '' })
  const node = drawn('svg', { class: 'spark', viewBox: '0 0 120 22', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  node.append(line)
  const values = []
  return {
    node,
    add(value) {
      values.push(value)
      if (values.length > most) values.shift()
      const top = Math.max(1, ...values)
      line.setAttribute('points', values.map((v, i) => `${((most - values.length + i) * 120 / (most - 1)).toFixed(1)},${(21 - 20 * v / top).toFixed(1)}`).join(' '))
    },
  }
}

// meter returns a bar that is full by a share.
export function meter() {
  const bar = drawn('rect', { x: '0', y: '0', height: '4', width: '0' })
  const node = drawn('svg', { class: 'meter', viewBox: '0 0 100 4', preserveAspectRatio: 'none', 'aria-hidden': 'true' })
  node.append(bar)
  return { node, set: (share) => bar.setAttribute('width', (100 * Math.min(1, Math.max(0, share || 0))).toFixed(1)) }
}
