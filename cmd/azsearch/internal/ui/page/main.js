// The page as a whole: tabs, views, and the state of the emulator once a second.
import { followed, open, opened } from './address.js'
import { byId, copyButtons } from './dom.js'
import { ask, load, session } from './emulator.js'
import { makePresets, showFaults } from './faults.js'
import { showIndexes } from './indexes.js'
import { showOthers } from './others.js'
import { lastRequest, showRequests } from './requests.js'

const every = 1000 // milliseconds between two looks

let timer = 0
let looking = false

// look asks for the state and comes back, as long as somebody can see the page.
async function look() {
  clearTimeout(timer)
  if (looking) return
  if (document.hidden) {
    say('paused')
    return
  }
  looking = true
  let state
  try {
    if (!session.started) {
      await load()
      makePresets()
    }
    state = await ask('state?after=' + lastRequest())
  } catch {
    say('not reachable') // the browser says why, in its console
  }
  try {
    if (state) await show(state)
  } finally {
    looking = false
    timer = setTimeout(look, every)
  }
}

async function show(state) {
  if (state.started !== session.started) {
    location.reload() // it is another emulator by now, perhaps with other keys
    return
  }
  showFaults(state.faults)
  showRequests(state.requests, state.all)
  showOthers(state.others)
  await showIndexes(state.indexes)
  say('live')
}

function say(word) {
  const live = byId('live')
  if (live.textContent !== word) live.textContent = word
  live.dataset.state = word
}

// tabs follow the pattern that screen readers know: arrows move between them, and
// Tab leaves them.
function tabs() {
  const all = [...document.querySelectorAll('[role=tab]')]
  const nameOf = (tab) => tab.id.slice('tab-'.length)
  const select = (tab) => {
    for (const t of all) {
      t.setAttribute('aria-selected', String(t === tab))
      t.tabIndex = t === tab ? 0 : -1
      byId(t.getAttribute('aria-controls')).hidden = t !== tab
    }
    if (nameOf(tab) !== opened.tab) open({ tab: nameOf(tab) })
  }
  const steps = { ArrowRight: 1, ArrowLeft: -1 }
  all.forEach((tab, i) => {
    tab.addEventListener('click', () => {
      select(tab)
      tab.focus()
    })
    tab.addEventListener('keydown', (event) => {
      if (!(event.key in steps)) return
      const next = all[(i + steps[event.key] + all.length) % all.length]
      select(next)
      next.focus()
    })
  })
  const show = () => select(all.find((tab) => nameOf(tab) === opened.tab) ?? all[0])
  show()
  followed(show)
}

// views are the two halves of the page where there is no room for both.
function views() {
  const buttons = [...document.querySelectorAll('.views button')]
  const select = (button) => {
    document.body.dataset.view = button.dataset.view
    for (const b of buttons) b.setAttribute('aria-current', String(b === button))
    if (button.dataset.view !== opened.view) open({ view: button.dataset.view })
  }
  for (const button of buttons) button.addEventListener('click', () => select(button))
  const show = () => select(buttons.find((b) => b.dataset.view === opened.view) ?? buttons[0])
  show()
  followed(show)
}

byId('endpoint').textContent = location.origin
tabs()
views()
copyButtons()
document.addEventListener('visibilitychange', look)
look()
