// The page as a whole: it looks once a second, as long as it is visible.
import { byId } from './dom.js'
import { show } from './parts.js'
import { showSenders } from './senders.js'
import { ask, showStores } from './stores.js'

const every = 1000 // milliseconds between two looks

let timer = 0
let looking = false
let began = ''

async function look() {
  clearTimeout(timer)
  if (looking) return
  if (document.hidden) {
    say('paused')
    return
  }
  looking = true
  try {
    const state = await ask('state')
    if (began && state.began !== began) {
      location.reload() // another process by now
      return
    }
    began = state.began
    showSenders(state.senders)
    showStores(state)
    say('live')
  } catch (e) {
    say('not reachable')
    console.warn(e)
  } finally {
    looking = false
    timer = setTimeout(look, every)
  }
}

function say(word) {
  show(byId('live'), word)
  byId('live').dataset.state = word
}

byId('endpoint').textContent = location.host
document.addEventListener('visibilitychange', look)
look()
