package digesttree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// Kind is how a key differs.
type Kind uint8

// What a Difference can be.
const (
	// MissingHere is a key that only the other side has: nobody told the Tree that it was confirmed.
	MissingHere Kind = iota + 1
	// MissingThere is a key that only the Tree has.
	MissingThere
	// Older is a key of which the Tree has the smaller version.
	Older
	// Newer is a key of which the Tree has the larger version.
	Newer
)

func (k Kind) String() string {
	switch k {
	case MissingHere:
		return "missing here"
	case MissingThere:
		return "missing there"
	case Older:
		return "older"
	case Newer:
		return "newer"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Difference is a key that differs.
type Difference struct {
	Key  string
	Kind Kind
	// Here is the version of the Tree, There that of the other side; 0 where the key is missing.
	Here, There int64
}

// Differences is what Compare has found.
type Differences struct {
	// Keys are those that differed and stayed as they were, at most CompareOptions.MaxKeys.
	Keys []Difference
	// More is set if there may be others: compare again. It begins behind those that were found.
	More bool
	// Segments is how many differed, as far as they were examined.
	Segments int
	// Unknown is how many segments were not compared, as one of the sides does not know what they have.
	Unknown int
	// Fruitless is how many segments are to be built anew, because their digests differed for the second time and
	// none of their keys did. They are unknown from now on.
	Fruitless int
}

// differences compares rows by key, and returns what differs in the order of keys.
func differences(here, there []models.Row) (all []Difference) {
	x := make(map[string]int64, len(here))
	for _, r := range here {
		x[r.Key] = r.Version
	}
	y := make(map[string]int64, len(there))
	for _, r := range there {
		y[r.Key] = r.Version
	}
	for key, version := range y {
		mine, ok := x[key]
		switch {
		case !ok:
			all = append(all, Difference{key, MissingHere, 0, version})
		case mine < version:
			all = append(all, Difference{key, Older, mine, version})
		case mine > version:
			all = append(all, Difference{key, Newer, mine, version})
		}
	}
	for key, version := range x {
		if _, ok := y[key]; !ok {
			all = append(all, Difference{key, MissingThere, version, 0})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Key, b.Key) })
	return all
}
