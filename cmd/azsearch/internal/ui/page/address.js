// What is open, in the address after #: an index, its tab, and the view where there is no room for both, as in
// "#hotels/fields/traffic". The tab Search and the view of the index need no name.
function named() {
  const [index = '', tab = '', view = ''] = location.hash.slice(1).split('/').map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return '' // typed by hand
    }
  })
  return { index, tab: tab || 'search', view: view || 'index' }
}

// opened is what the address names, and later what is open.
export const opened = named()

// open notes what is open now.
export function open(what) {
  Object.assign(opened, what)
  const tab = opened.tab === 'search' ? '' : opened.tab
  const view = opened.view === 'index' ? '' : opened.view
  history.replaceState(null, '', '#' + [encodeURIComponent(opened.index), tab, view].join('/').replace(/\/+$/, ''))
}

// followed calls show when the address was edited, or a link followed.
export function followed(show) {
  addEventListener('hashchange', () => {
    Object.assign(opened, named())
    show()
  })
}
