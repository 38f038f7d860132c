package search

import "fmt"

// call describes the purpose of a request, for errors and their hints.
type call struct {
	operation string // the exported name, "CreateIndex"
	index     string // "" if the call is about the service
	other     definitionName
	needs     right
	reader    *reader      // of a query; nil is the client. A pointer, because %#v of an error prints values
	measured  *measurement // nil if the call is not measured
}

// definitionName is the definition that a call is about, if that is not an index.
type definitionName struct {
	noun, name string // "synonym map" and its name
	notFound   error
}

// String returns, for example, `GetIndex of index "hotels"`.
func (c call) String() string {
	switch {
	case c.other.name != "":
		return fmt.Sprintf("%s of %s %q", c.operation, c.other.noun, c.other.name)
	case c.index == "":
		return c.operation
	}
	return fmt.Sprintf("%s of index %q", c.operation, c.index)
}

// wrap adds the name of the operation to err.
func (c call) wrap(err error) error {
	return fmt.Errorf("search: %s: %w", c, err)
}

// right is the permission that an operation needs.
type right int

const (
	readDocuments right = iota
	writeDocuments
	manageIndexes
	readKeyField // the right to read definitions, needed only by KeyFieldName
)

// role returns the Entra ID role that grants the right, by its name in the service's documentation.
func (r right) role() string {
	switch r {
	case readDocuments:
		return "Search Index Data Reader"
	case writeDocuments:
		return "Search Index Data Contributor"
	}
	return "Search Service Contributor"
}

// key returns the kind of API key that grants the right.
func (r right) key() string {
	if r == readDocuments {
		return "a query key or an admin key"
	}
	return "an admin key (query keys only read documents)"
}
