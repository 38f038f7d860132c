// What goes wrong: the script in force, buttons for the usual ones, and an editor.
import { byId, element } from './dom.js'
import { ask, session } from './emulator.js'

const script = byId('script')
let shown = null // the state that is on the page, as text

// makePresets makes the buttons of the session.
export function makePresets() {
  byId('presets').replaceChildren(
    ...session.presets.map((preset) => presetButton(preset.label, () => apply(JSON.stringify(preset.script, null, 2)))),
    presetButton('off', () => apply(''), 'off'))
}

function presetButton(label, onclick, kind = '') {
  return element('button', { type: 'button', class: kind, 'aria-pressed': 'false', onclick }, label)
}

// showFaults shows the script in force, {script, label, since}. The editor follows unless
// somebody has begun to write in it.
export function showFaults(faults) {
  const now = JSON.stringify(faults)
  if (now === shown) return
  if (script.dataset.edited === undefined) script.value = faults.script
  shown = now
  const label = faults.label || 'off'
  for (const button of byId('presets').children) button.setAttribute('aria-pressed', String(button.textContent === label))
  const since = new Date(faults.since).toLocaleTimeString('en-GB')
  byId('fault-state').textContent = faults.script ? `Active: ${label} (since ${since})` : 'Off: nothing goes wrong on purpose.'
  byId('fault-state').className = faults.script ? 'active' : ''
  byId('fault-chip').textContent = 'faults: ' + label
  byId('fault-chip').hidden = !faults.script
}

// apply puts a script in force, or ends the one that is if the text is empty.
async function apply(text) {
  try {
    const faults = await ask('faults', text.trim() ? { method: 'PUT', body: text } : { method: 'DELETE' })
    delete script.dataset.edited
    script.value = faults.script
    showFaults(faults)
    showErrors([])
  } catch (e) {
    showErrors(e.lines ?? [e.message])
  }
}

function showErrors(lines) {
  byId('script-errors').replaceChildren(...lines.map((line) => element('li', {}, line)))
  byId('script-errors').hidden = lines.length === 0
}

script.addEventListener('input', () => { script.dataset.edited = '' })
byId('script-form').addEventListener('submit', (event) => {
  event.preventDefault()
  apply(script.value)
})
