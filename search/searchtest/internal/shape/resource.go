package shape

import (
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Resource is a definition that the service keeps by its name: of an index, a
// synonym map, an indexer.
type Resource struct {
	Name   string
	ETag   string // bare, without quotes and W/
	Object *Object
	// Sent, when set, is what the reply to a creation or an update shows: the
	// service fills in the rest later.
	Sent *Object
}

// Base returns what all kinds have in common.
func (res *Resource) Base() *Resource { return res }

// AppendDefinition appends the definition as a service of that version writes
// it, with the members before in front of the others: they end in a comma.
func (res *Resource) AppendDefinition(dst []byte, version apiversion.Version, before string) []byte {
	start := len(dst)
	dst = res.Object.AppendTo(dst, version)
	return slices.Insert(dst, start+1, []byte(before)...)
}

// AsSent is the definition as the reply to the request shows it that made it so.
func (res *Resource) AsSent() *Resource {
	if res.Sent == nil {
		return res
	}
	return &Resource{Name: res.Name, ETag: res.ETag, Object: res.Sent}
}
