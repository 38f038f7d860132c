package shape

import (
	"slices"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// Resource is a definition that the service keeps by name, such as an index, a synonym map or
// an indexer.
type Resource struct {
	Name   string
	ETag   string // without quotes and W/
	Object *Object
	// Sent is the content of the reply to a creation or an update, if the service sets
	// defaults only after it. It may be nil.
	Sent *Object
}

// Base returns the part that all kinds share.
func (res *Resource) Base() *Resource { return res }

// AppendDefinition appends the definition as a service of that version writes it. before are
// additional members in front of the others, ending in a comma.
func (res *Resource) AppendDefinition(dst []byte, version apiversion.Version, before string) []byte {
	start := len(dst)
	dst = res.Object.AppendTo(dst, version)
	return slices.Insert(dst, start+1, []byte(before)...)
}

// AsSent returns the definition for the reply to the request that created or updated it.
func (res *Resource) AsSent() *Resource {
	if res.Sent == nil {
		return res
	}
	return &Resource{Name: res.Name, ETag: res.ETag, Object: res.Sent}
}
