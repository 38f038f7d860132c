// What the service keeps beside indexes: a list for each kind, and the definition of the chosen one.
import { byId, element } from './dom.js'
import { ask } from './emulator.js'
import { write } from './json.js'

const titles = {
  dataSources: 'Data sources', skillsets: 'Skillsets', indexers: 'Indexers', knowledgeSources: 'Knowledge sources', knowledgeBases: 'Knowledge bases',
  synonymMaps: 'Synonym maps', aliases: 'Aliases',
}
let drawn = ''
let chosen = '' // as the text of its button's data

// showOthers shows the lists as they are now.
export function showOthers(kinds) {
  const now = JSON.stringify(kinds)
  if (now === drawn) return
  drawn = now
  byId('others').replaceChildren(...kinds.flatMap(({ kind, names }) => [
    element('h2', {}, titles[kind] ?? kind), element('ul', { 'aria-label': titles[kind] ?? kind }, ...names.map((name) => element('li', {}, button(kind, name)))),
  ]))
  mark()
}

function button(kind, name) {
  const made = element('button', { type: 'button', onclick: () => choose(kind, name) }, element('span', { class: 'index-label' }, name))
  made.dataset.other = JSON.stringify([kind, name])
  return made
}

function mark() {
  for (const b of byId('others').querySelectorAll('button')) {
    if (b.dataset.other === chosen) b.setAttribute('aria-current', 'true')
    else b.removeAttribute('aria-current')
  }
}

async function choose(kind, name) {
  chosen = JSON.stringify([kind, name])
  mark()
  byId('index-title').textContent = name
  byId('other-kind').textContent = titles[kind] ?? kind
  byId('other').textContent = 'loading …'
  document.body.classList.add('other')
  byId('panel-other').hidden = false
  for (const b of byId('indexes').querySelectorAll('button')) b.removeAttribute('aria-current')
  const asked = chosen
  let text
  try {
    text = write(await ask(`definition?kind=${encodeURIComponent(kind)}&name=${encodeURIComponent(name)}`))
  } catch (e) {
    text = e.message
  }
  if (asked === chosen) byId('other').textContent = text
}

// leave hides the definition: an index was chosen.
export function leave() {
  chosen = ''
  mark()
  document.body.classList.remove('other')
  byId('panel-other').hidden = true
}
