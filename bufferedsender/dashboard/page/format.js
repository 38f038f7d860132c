// How numbers and times are written.

// count writes a number of things.
export const count = (n) => n.toLocaleString('en', { maximumFractionDigits: n < 10 && n % 1 ? 1 : 0 })

// seconds writes a duration.
export function seconds(s) {
  if (!s) return '–'
  if (s < 1) return `${Math.max(1, Math.round(s * 1000))} ms`
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`
  if (s < 2 * 86400) return `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`
  return `${Math.floor(s / 86400)} days`
}

// bytes writes a size.
export function bytes(n) {
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (n < 1000) return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`
    n /= 1000
  }
  return `${n.toFixed(1)} TB`
}

// clock writes a moment, with the day unless it is today.
export function clock(text) {
  const t = new Date(text)
  return (t.toDateString() === new Date().toDateString() ? '' : t.toLocaleDateString('en-CA') + ' ') + t.toLocaleTimeString('en-GB')
}
