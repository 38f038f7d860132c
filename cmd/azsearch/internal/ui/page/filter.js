// From the bucket of a facet to a filter that finds the documents in it.

// and adds a condition to a filter, which may be empty.
export function and(filter, condition) {
  filter = filter.trim()
  if (!filter) return condition
  return (/\bor\b/.test(filter) ? `(${filter})` : filter) + ' and ' + condition
}

// bucketFilter returns the filter of a bucket, or null if there is none. fields
// are those of the index, facet is the expression that was asked for.
export function bucketFilter(fields, facet, bucket) {
  const [path, ...rest] = facet.split(',').map((part) => part.trim())
  const steps = stepsTo(fields, path)
  if (!steps) return null
  const parameters = new Map(rest.map((part) => {
    const colon = part.indexOf(':')
    return [part.slice(0, colon).trim(), part.slice(colon + 1).trim()]
  }))
  const type = steps.at(-1).type
  const range = boundsOf(type, bucket, parameters)
  if (!range) return null
  return throughCollections(steps, '', 0, (operand) =>
    range.map(([operator, value]) => `${operand} ${operator} ${value}`).join(' and '))
}

// stepsTo returns the fields on the path "rooms/type", or null.
function stepsTo(fields, path) {
  const steps = []
  for (const name of path.split('/')) {
    const field = fields?.find((f) => f.name === name)
    if (!field) return null
    const collection = field.type.startsWith('Collection(')
    steps.push({ name, collection, type: collection ? field.type.slice('Collection('.length, -1) : field.type })
    fields = field.fields
  }
  return steps
}

const variables = 'xyzuvw'

// throughCollections builds the condition on the last step, with any() around it
// for each collection on the way.
function throughCollections(steps, operand, depth, condition) {
  if (steps.length === 0) return condition(operand)
  const [step, ...rest] = steps
  const path = operand ? `${operand}/${step.name}` : step.name
  if (!step.collection) return throughCollections(rest, path, depth, condition)
  const variable = variables[depth]
  return `${path}/any(${variable}: ${throughCollections(rest, variable, depth + 1, condition)})`
}

// boundsOf returns the comparisons that hold for the values of a bucket.
function boundsOf(type, bucket, parameters) {
  if ('from' in bucket || 'to' in bucket) {
    const bounds = []
    if ('from' in bucket) bounds.push(['ge', literal(type, bucket.from)])
    if ('to' in bucket) bounds.push(['lt', literal(type, bucket.to)])
    return bounds
  }
  if (!('value' in bucket)) return null
  if (type === 'Edm.Double' && bucket.value === 'NaN') return null // which equals nothing
  const value = literal(type, bucket.value)
  const interval = parameters.get('interval')
  if (!interval) return [['eq', value]]
  if (type === 'Edm.DateTimeOffset') {
    const end = nextStart(bucket.value, interval, parameters.get('timeoffset'))
    return end && [['ge', value], ['lt', end]]
  }
  if (type === 'Edm.Double') return [['ge', value], ['lt', String(Number(value) + Number(interval))]]
  return [['ge', value], ['lt', String(BigInt(value) + BigInt(interval))]]
}

// literal is a value as a filter spells it.
function literal(type, value) {
  if (type === 'Edm.String') return quote(value)
  // The service writes the bounds of ranges with offsets that it does not read.
  if (type === 'Edm.DateTimeOffset') return value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

// quote is a string as a filter spells it.
export const quote = (text) => "'" + text.replaceAll("'", "''") + "'"

const minute = 60_000
const lengths = { minute, hour: 60 * minute, day: 24 * 60 * minute, week: 7 * 24 * 60 * minute }
const months = { month: 1, quarter: 3, year: 12 }

// nextStart is where the interval of time ends that begins at start.
function nextStart(start, unit, timeoffset) {
  const at = new Date(start)
  if (unit in lengths) return new Date(at.getTime() + lengths[unit]).toISOString()
  if (!(unit in months)) return null
  // Months are as long as they are where the clock shows the offset.
  const offset = offsetOf(timeoffset)
  const local = new Date(at.getTime() + offset)
  local.setUTCMonth(local.getUTCMonth() + months[unit])
  return new Date(local.getTime() - offset).toISOString()
}

// offsetOf reads "+hh:mm", "-hhmm" or "+hh" into milliseconds.
function offsetOf(text) {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(text ?? '') ?? [null, '+', 0, 0]
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes ?? 0)) * minute
}
