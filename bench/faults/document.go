package faults

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// document is the document type of all rows. Each field contains the number of the action that wrote it, so that any
// document in the index, also after merges, shows the actions that produced it.
//
// Its strings are slices of one long text. Documents that the sender keeps for its events therefore need no memory of
// the harness, and memory growth is the sender's.
type document struct {
	ID    string `json:"id" search:"key"`
	Rev   int64  `json:"rev"` // number of the action, from 1
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
	Rank  int64  `json:"rank,omitempty"`
}

const indexName = "faults"

// indexDefinition makes the body not searchable, because it can be long.
const indexDefinition = `{"name":"` + indexName + `","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"rev","type":"Edm.Int64"},
	{"name":"title","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"body","type":"Edm.String","searchable":false,"filterable":false,"sortable":false,"facetable":false}` + rankField + `]}`

// rankField is the last field of the definition. Rows with schema drift omit it.
const rankField = `,
	{"name":"rank","type":"Edm.Int64"}`

// fields are the fields that an action sets, besides id and rev.
type fields uint8

const (
	fieldTitle fields = 1 << iota
	fieldBody
	fieldRank
	allFields = fieldTitle | fieldBody | fieldRank
)

// state is a document reduced to the numbers of its actions: for each field the action that wrote it (for the body
// modulo the slots of the text), 0 for null. The zero state means no document.
type state struct {
	Rev   int64 `json:"rev"`
	Title int64 `json:"title"`
	Body  int64 `json:"body"`
	Rank  int64 `json:"rank"`
}

func (s state) exists() bool { return s != state{} }

// after returns the state after an action, and whether the service can apply the action: a merge needs a document.
func (s state) after(a action, rev int64, t *text) (state, bool) {
	switch a.typ {
	case models.ActionTypeDelete:
		return state{}, true
	case models.ActionTypeUpload:
		s = state{}
	case models.ActionTypeMerge:
		if !s.exists() {
			return s, false
		}
	}
	s.Rev = rev
	if a.sets&fieldTitle != 0 {
		s.Title = rev
	}
	if a.sets&fieldBody != 0 {
		s.Body = t.slot(rev)
	}
	if a.sets&fieldRank != 0 {
		s.Rank = rev
	}
	return s, true
}

// slotBytes is the length of one number in the text.
const slotBytes = 8

// text is a long sequence of numbers, "0000001 0000002 …". A body is a slice of it that starts at the slot of its
// action, so every byte can be checked.
type text struct {
	slots int64
	all   string
}

// newText returns a text with a separate slot for each action, and enough length for the longest body.
func newText(actions, longest int) *text {
	t := &text{slots: int64(max(actions, 2*longest/slotBytes, 1))}
	all := make([]byte, 0, int(t.slots)*slotBytes+longest+slotBytes)
	for n := int64(1); len(all) < cap(all)-slotBytes; n++ {
		all = fmt.Appendf(all, "%0*d ", slotBytes-1, n)
	}
	t.all = string(all)
	return t
}

// slot returns the first number of an action's body, never 0.
func (t *text) slot(rev int64) int64 { return (rev-1)%t.slots + 1 }

func (t *text) body(rev int64, size int) string {
	from := (t.slot(rev) - 1) * slotBytes
	return t.all[from : from+int64(size)]
}

// bodySlot returns the first slot of a body, and whether the whole body is intact.
func (t *text) bodySlot(body string) (int64, bool) {
	if len(body) < slotBytes {
		return 0, false
	}
	slot, err := strconv.ParseInt(body[:slotBytes-1], 10, 64)
	if err != nil || slot < 1 || slot > t.slots {
		return 0, false
	}
	from := int((slot - 1) * slotBytes)
	return slot, from+len(body) <= len(t.all) && t.all[from:from+len(body)] == body
}

// document returns the document that an action sends.
func (t *text) document(key string, a action, rev int64) document {
	d := document{ID: key, Rev: rev}
	if a.sets&fieldTitle != 0 {
		d.Title = "t" + strconv.FormatInt(rev, 10)
	}
	if a.sets&fieldBody != 0 {
		d.Body = t.body(rev, int(a.size))
	}
	if a.sets&fieldRank != 0 {
		d.Rank = rev
	}
	return d
}

// read returns the state of a document. It returns an error for content that no action wrote.
func (t *text) read(d *document) (state, error) {
	s := state{Rev: d.Rev, Rank: d.Rank}
	if d.Rev < 1 {
		return s, fmt.Errorf("document %s has no rev", d.ID)
	}
	if d.Title != "" {
		var err error
		if s.Title, err = strconv.ParseInt(strings.TrimPrefix(d.Title, "t"), 10, 64); err != nil || s.Title < 1 {
			return s, fmt.Errorf("document %s has the title %.40q, which no action wrote", d.ID, d.Title)
		}
	}
	if d.Body != "" {
		slot, ok := t.bodySlot(d.Body)
		if !ok {
			return s, fmt.Errorf("document %s has a body of %d bytes that no action wrote: %.40q…", d.ID, len(d.Body), d.Body)
		}
		s.Body = slot
	}
	return s, nil
}

// sets returns the fields that a document in a request sets. It returns an error if a field is from another action.
func (t *text) sets(d *document) (fields, error) {
	s, err := t.read(d)
	if err != nil {
		return 0, err
	}
	var f fields
	for _, x := range []struct {
		field     fields
		got, want int64
	}{{fieldTitle, s.Title, s.Rev}, {fieldBody, s.Body, t.slot(s.Rev)}, {fieldRank, s.Rank, s.Rev}} {
		if x.got == 0 {
			continue
		}
		if x.got != x.want {
			return 0, fmt.Errorf("action %d of document %s travels with a field of action %d", s.Rev, d.ID, x.got)
		}
		f |= x.field
	}
	return f, nil
}
