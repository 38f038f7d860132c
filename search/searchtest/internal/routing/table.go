package routing

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Other is the name of the operation for all unknown requests.
const Other = "other"

// Operation is an operation of the service without its handler.
type Operation struct {
	Name string
	// Routes are the addresses in the slash form, each with its method:
	// "GET /indexes/{index}/docs/{key}". They match the OData form too. {index}, {key} and
	// {name} stand for one segment and set the field of Route with that name. A route that
	// ends in ?parameter requires that parameter.
	Routes []string
	Needs  apiversion.Capability // capability of the version, 0 for all versions
	Reads  bool                  // it reads the documents of an index
}

// Table is the list of operations of a service.
type Table struct {
	operations map[string]*Operation
	// addresses are the routes by their first segment, the more specific ones with fewer
	// wildcards first.
	addresses map[string][]*address
	// longNames are the segments that cannot be keys in the slash form, such as
	// "search.index" and "$count".
	longNames map[string]bool
}

// NewTable returns a Table that contains only Other.
func NewTable() *Table {
	return &Table{operations: map[string]*Operation{Other: {Name: Other}}, addresses: make(map[string][]*address), longNames: make(map[string]bool)}
}

// address is one of the routes of an operation.
type address struct {
	operation *Operation
	method    string
	segments  []string
	wildcards int
	parameter string // that the request must have, "" for none
}

// Add adds an operation. It panics if the name is taken.
func (t *Table) Add(op Operation) {
	if t.operations[op.Name] != nil {
		panic("searchtest: operation registered twice: " + op.Name)
	}
	t.operations[op.Name] = &op
	for _, text := range op.Routes {
		method, path, _ := strings.Cut(text, " ")
		path, parameter, _ := strings.Cut(path, "?")
		a := &address{operation: &op, method: method, segments: strings.Split(path[1:], "/"), parameter: parameter}
		for _, segment := range a.segments {
			switch {
			case strings.HasPrefix(segment, "{"):
				a.wildcards++
			case strings.ContainsAny(segment, ".$"):
				t.longNames[segment] = true
			}
		}
		first := a.segments[0]
		t.addresses[first] = append(t.addresses[first], a)
		slices.SortStableFunc(t.addresses[first], func(a, b *address) int { return a.wildcards - b.wildcards })
	}
}

// Operation returns the operation of that name, nil if there is none.
func (t *Table) Operation(name string) *Operation { return t.operations[name] }

// Names returns the sorted names of all operations.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.operations)) }

// fits reports whether segments match a, for any method.
func (t *Table) fits(a *address, segments []string) bool {
	return slices.EqualFunc(a.segments, segments, func(want, got string) bool {
		switch want {
		case "{key}":
			return !t.longNames[got]
		case "{index}", "{name}":
			return true
		}
		return want == got
	})
}

// Takes reports whether a route of the operation has the wildcard.
func (op *Operation) Takes(wildcard string) bool {
	return slices.ContainsFunc(op.Routes, func(text string) bool { return strings.Contains(text, wildcard) })
}

// Method returns the only method of the operation, "" if it has several or any.
func (op *Operation) Method() string {
	only := ""
	for _, text := range op.Routes {
		method, _, _ := strings.Cut(text, " ")
		if only != "" && only != method {
			return ""
		}
		only = method
	}
	return only
}
