// Making elements. Nothing on this page makes an element out of text: whatever
// came from the emulator becomes a text node.

// byId returns the element of that id.
export const byId = (id) => document.getElementById(id)

// element makes an element. Properties are set as properties, but for "class",
// those that begin with "on", which are listeners, and those with a dash or
// "role", which are attributes. Children are nodes or text.
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class') made.className = value
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value)
    else if (name.includes('-') || name === 'role') made.setAttribute(name, value)
    else made[name] = value
  }
  made.append(...children)
  return made
}

// showProblem puts text into an element for errors; without text it hides it.
export function showProblem(target, text) {
  target.textContent = text ?? ''
  target.hidden = !text
}

// markedText returns nodes of a text in which tags stand around what was found:
// the parts between them become <mark>, and everything else, other tags included,
// stays text. Tags can be empty, and then nobody knows what was found.
export function markedText(text, before = '<em>', after = '</em>') {
  if (!before || !after) return [text]
  const nodes = []
  let rest = text
  for (;;) {
    const start = rest.indexOf(before)
    const end = start < 0 ? -1 : rest.indexOf(after, start + before.length)
    if (end < 0) return [...nodes, rest]
    nodes.push(rest.slice(0, start), element('mark', {}, rest.slice(start + before.length, end)))
    rest = rest.slice(end + after.length)
  }
}

// copyButtons makes the buttons with data-copies copy the text of the element
// that they name. Where the clipboard is out of reach, as it is over plain HTTP
// from another machine, the text is selected instead.
export function copyButtons() {
  for (const button of document.querySelectorAll('button[data-copies]')) {
    const source = byId(button.dataset.copies)
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(source.dataset.text ?? source.textContent)
        button.textContent = 'Copied'
      } catch {
        getSelection().selectAllChildren(source)
        button.textContent = 'Selected'
      }
      button.addEventListener('blur', () => { button.textContent = 'Copy' }, { once: true })
    })
  }
}
