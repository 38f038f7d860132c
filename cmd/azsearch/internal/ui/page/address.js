// What is open, in the address after #: an index and its tab, "#hotels/fields". The tab Search needs no name.
const [index = '', tab = 'search'] = location.hash.slice(1).split('/').map((part) => {
  try {
    return decodeURIComponent(part)
  } catch {
    return '' // typed by hand
  }
})

// opened is what the address names, and later what is open.
export const opened = { index, tab }

// open notes what is open now.
export function open(what) {
  Object.assign(opened, what)
  const tab = opened.tab === 'search' ? '' : '/' + opened.tab
  history.replaceState(null, '', '#' + encodeURIComponent(opened.index) + tab)
}
