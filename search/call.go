package search

import "fmt"

// call says what a request is for, for errors and their hints.
type call struct {
	operation string // the exported name, "CreateIndex"
	index     string // "" if it is about the service
	other     definitionName
	needs     right
	reader    reader       // of a query or lookup
	measured  *measurement // nil if nobody wants to know, or it is not measured
}

// definitionName is what a call is about that is not about an index.
type definitionName struct {
	noun, name string // "synonym map" and which
	notFound   error
}

// String returns for example `GetIndex of index "hotels"`.
func (c call) String() string {
	switch {
	case c.other.name != "":
		return fmt.Sprintf("%s of %s %q", c.operation, c.other.noun, c.other.name)
	case c.index == "":
		return c.operation
	}
	return fmt.Sprintf("%s of index %q", c.operation, c.index)
}

// wrap says what was attempted when err happened.
func (c call) wrap(err error) error {
	return fmt.Errorf("search: %s: %w", c, err)
}

// right is what an operation asks of whoever calls it.
type right int

const (
	readDocuments right = iota
	writeDocuments
	manageIndexes
	readKeyField // a right to definitions that only KeyFieldName needs
)

// role returns the Entra ID role that gives the right, as the service's
// documentation of role-based access names it.
func (r right) role() string {
	switch r {
	case readDocuments:
		return "Search Index Data Reader"
	case writeDocuments:
		return "Search Index Data Contributor"
	}
	return "Search Service Contributor"
}

// key returns the kind of API key that gives the right.
func (r right) key() string {
	if r == readDocuments {
		return "a query key or an admin key"
	}
	return "an admin key (query keys only read documents)"
}
