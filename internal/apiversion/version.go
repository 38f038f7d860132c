// Package apiversion holds the table of the versions of the service's REST API and their capabilities, for the
// client, the emulator and the commands.
//
// The capabilities of a version are a set. A stable version may lack a capability of an older preview, so versions
// are not ordered by their capabilities: code asks for a [Capability] by name. A new api-version is one row in
// table.go, a new capability one constant in capability.go.
package apiversion

import (
	"strings"
	"time"
)

// Default is the version that clients use unless their options name another one. It is the newest stable version that
// the emulator supports completely.
const Default = "2026-10-01"

// Version is a version of the service's REST API. Versions are equal if their texts are; the zero value has no
// capabilities.
type Version struct {
	text string
	has  capabilities
}

// Of returns the version with the given name. Case does not matter, but String returns the text unchanged.
//
// A version that is not in the table has the capabilities of the newest version in the table that is of the same
// kind, stable or preview, and not newer. So for the client and the emulator, a newer version has the capabilities of
// the newest known one. The emulator refuses other unknown versions, see Newer, and words the refusal according to
// these capabilities. The empty text stands for Default.
func Of(text string) Version {
	return Version{text: text, has: nearest(strings.ToLower(text)).has}
}

// nearest returns the row with the capabilities of a version in lower case.
func nearest(name string) *release {
	if name == "" {
		name = Default
	}
	found := &table[0]
	for i := range table {
		switch known := &table[i]; {
		case known.version == name:
			return known
		case preview(known.version) == preview(name) && date(known.version) <= date(name):
			found = known
		}
	}
	return found
}

// Latest returns the version Default.
func Latest() Version { return Of(Default) }

// String returns the text that was given to Of.
func (v Version) String() string { return v.text }

// Has reports whether the version has a capability. Every version has the zero Capability.
func (v Version) Has(c Capability) bool { return c == 0 || v.has&c.bit() != 0 }

// Known reports whether the version is in the table.
func (v Version) Known() bool { return find(strings.ToLower(v.text)) != nil }

// Newer reports whether the version is a date, or a preview of one, after all dates in the table. Nearest then
// returns the version whose capabilities it has.
func (v Version) Newer() bool {
	name := strings.ToLower(v.text)
	if preview(name) && name[len(Default):] != "-preview" {
		return false
	}
	if _, err := time.Parse(time.DateOnly, date(name)); err != nil {
		return false
	}
	return date(name) > date(Newest().text)
}

// Nearest returns the version in the table with the capabilities of v.
func (v Version) Nearest() Version { return Of(nearest(strings.ToLower(v.text)).version) }

// All returns a version with all capabilities and the text Default.
func All() Version { return Version{text: Default, has: ^capabilities(0)} }

// Oldest returns the first version in the table.
func Oldest() Version { return Of(table[0].version) }

// Newest returns the last version in the table.
func Newest() Version { return Of(table[len(table)-1].version) }

// Versions returns all versions in the table, the oldest first.
func Versions() []Version {
	all := make([]Version, len(table))
	for i := range table {
		all[i] = Of(table[i].version)
	}
	return all
}

// date returns the date of a version, which is all of a stable one.
func date(version string) string { return version[:min(len(version), len(Default))] }

// preview reports whether a version has a suffix after its date.
func preview(version string) bool { return len(version) > len(Default) }
