// Package apiversion is for the client, the emulator and the commands: one table
// says which versions of the service's REST API exist and which capabilities each
// of them has.
//
// The capabilities of a version are a set. A stable version may lack what an older
// preview had, so no rule "since" holds, and a Version has no order: code asks for
// a [Capability] by name. A new api-version is one row of the table in table.go, a
// new capability one constant in capability.go.
package apiversion

import (
	"strings"
	"time"
)

// Default is the version that the client asks for unless its options name another
// one: the newest stable version that the emulator has as a whole.
const Default = "2026-10-01"

// Version is one version of the service's REST API. Versions are equal if their
// texts are; the zero value has no capability.
type Version struct {
	text string
	has  capabilities
}

// Of returns the version that a request or an option names. Upper and lower case
// mean the same version; String keeps the text.
//
// A version that is not in the table has the capabilities of the newest version
// of the table that is of its kind, stable or preview, and not newer. For the
// client, and for the emulator, a newer version has the set of the newest known one
// therefore. The emulator refuses other unknown versions, see Newer, and words the
// refusal by that set.
// The empty text stands for Default.
func Of(text string) Version {
	return Version{text: text, has: nearest(strings.ToLower(text)).has}
}

// nearest returns the row that a version in lower case takes its capabilities from.
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

// Latest returns the version named Default.
func Latest() Version { return Of(Default) }

// String returns the text that the version was made from.
func (v Version) String() string { return v.text }

// Has reports whether the version has a capability. The zero Capability is one
// that all versions have.
func (v Version) Has(c Capability) bool { return c == 0 || v.has&c.bit() != 0 }

// Known reports whether the version is in the table.
func (v Version) Known() bool { return find(strings.ToLower(v.text)) != nil }

// Newer reports whether the version is a date, or a preview of one, behind all dates
// of the table. Nearest names the version of the table whose set it has.
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

// Nearest returns the version of the table whose capabilities v has.
func (v Version) Nearest() Version { return Of(nearest(strings.ToLower(v.text)).version) }

// All returns a version that has all capabilities, in the name of Default.
func All() Version { return Version{text: Default, has: ^capabilities(0)} }

// Oldest returns the first version of the table.
func Oldest() Version { return Of(table[0].version) }

// Newest returns the last version of the table.
func Newest() Version { return Of(table[len(table)-1].version) }

// Versions returns all versions of the table, the oldest first.
func Versions() []Version {
	all := make([]Version, len(table))
	for i := range table {
		all[i] = Of(table[i].version)
	}
	return all
}

// date is the first part of a version: all of a stable one.
func date(version string) string { return version[:min(len(version), len(Default))] }

// preview reports whether a version has something after its date.
func preview(version string) bool { return len(version) > len(Default) }
