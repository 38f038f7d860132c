// What could stand in the fields of a query, made of the fields that the index has.

const numbers = ['Edm.Int32', 'Edm.Int64', 'Edm.Double', 'Edm.Single', 'Edm.Int16', 'Edm.Byte', 'Edm.SByte']
const simple = (f) => !f.fields && !f.dimensions

// condition is a filter on a field.
function condition(f) {
  if (f.type === 'Collection(Edm.String)') return `${f.name}/any(x: x eq 'text')`
  if (numbers.includes(f.type)) return `${f.name} ge 4`
  if (f.type === 'Edm.Boolean') return `${f.name} eq true`
  if (f.type === 'Edm.DateTimeOffset') return `${f.name} ge 2026-01-01T00:00:00Z`
  return f.type === 'Edm.String' ? `${f.name} eq 'text'` : ''
}

// examples returns a text for each control of the form; '' where the index has no field for it.
export function examples(fields) {
  const having = (attribute) => fields.filter((f) => f[attribute] && simple(f))
  const first = (list, good) => list.find((f) => !f.key && good(f)) ?? list.find(good)
  const filterable = having('filterable').filter(condition), sortable = having('sortable'), facetable = having('facetable'), searchable = having('searchable').filter((f) => !f.key)
  const number = (f) => numbers.includes(f.type)
  const filter = first(filterable, number) ?? first(filterable, () => true)
  const order = first(sortable, number) ?? first(sortable, () => true)
  const facets = [first(facetable, (f) => !number(f)), first(facetable, number)]
  const shown = fields.filter((f) => f.retrievable !== false).map((f) => f.name)
  return {
    filter: filter ? condition(filter) : 'no field is filterable',
    orderby: order ? `${order.name} desc, search.score() desc` : 'search.score() desc',
    select: shown.slice(0, 3).join(', '),
    highlight: searchable.slice(0, 2).map((f) => f.name).join(', ') || 'no field is searchable',
    facets: [facets[0] && `${facets[0].name},count:5`, facets[1] && `${facets[1].name},interval:1`].filter(Boolean).join('\n') || 'no field is facetable',
    other: searchable.length ? `{"searchFields": "${searchable[0].name}"}` : '{"minimumCoverage": 100}',
  }
}
