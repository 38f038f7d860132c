package routing

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Other is the name of what requests ask for that ask for nothing known.
const Other = "other"

// Operation is an operation of the service as far as it does not matter what answers it.
type Operation struct {
	Name string
	// Routes are the addresses in the slash form, each with its method:
	// "GET /indexes/{index}/docs/{key}". The OData form is the same to routing.
	// {index}, {key} and {name} stand for one segment, the member of Route of that
	// name. An address that ends in ?parameter needs that parameter.
	Routes []string
	Needs  apiversion.Capability // of the version, 0 for all versions
	Reads  bool                  // it reads the documents of an index
}

// Table has the operations of a service.
type Table struct {
	operations map[string]*Operation
	// addresses are the routes by their first segment, those with fewer wildcards
	// first: they are more exact.
	addresses map[string][]*address
	// longNames are the segments that cannot be keys in the slash form:
	// "search.index", "$count".
	longNames map[string]bool
}

// NewTable returns a Table with nothing but Other.
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

// Add makes an operation known. It panics if one of that name is.
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

// Names returns the names of all operations, in order.
func (t *Table) Names() []string { return slices.Sorted(maps.Keys(t.operations)) }

// fits reports whether segments are those of a, whatever the method.
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

// Takes reports whether an address of the operation has that wildcard.
func (op *Operation) Takes(wildcard string) bool {
	return slices.ContainsFunc(op.Routes, func(text string) bool { return strings.Contains(text, wildcard) })
}

// Method is the only method of the operation, "" if it has more of them, or any.
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
