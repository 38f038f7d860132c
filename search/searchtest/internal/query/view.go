package query

import (
	"cmp"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex/analysis"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/vectors"
)

// View is the data of an index for searches: its visible documents in the order of writing,
// and search structures built from them. The first search builds it and later ones update it,
// so a write only appends to a list.
//
// Searches hold mu for reading while they run, and for writing while they update the view. mu
// is locked before the mu of the index.
type View struct {
	mu sync.RWMutex

	rows   []row             // by id; replaced and deleted documents leave empty rows
	byKey  map[string]uint32 // ids
	nextID uint32
	gone   int // empty rows
	keys   keyOrder
	age    int // how often a search structure was dropped

	// Built from the rows by the first search that needs them.
	schema     *schema.Index // the definition for which they were built
	text       *textindex.Index
	synonyms   string // versions of the synonym maps in text
	suggesters map[string]*suggester
	vectors    map[*stored.Field]*vectors.Index // of fields at the top level
}

// suggester is a text index for suggestions, with its source fields.
type suggester struct {
	*textindex.Suggester
	fields []schema.TextField
}

func (s *suggester) put(id uint32, data []byte) {
	values := make([][]string, len(s.fields))
	for i := range s.fields {
		values[i] = schema.AppendTexts(nil, s.fields[i].Fields, data)
	}
	s.Put(id, values)
}

// row is one document of a view.
type row struct {
	id   uint32
	data []byte // nil if it is gone
}

// mostIDs is the number of ids after which a view is rebuilt.
const mostIDs = 1 << 31

// Write is a document that becomes visible to searches, or its deletion.
type Write struct {
	Key    string
	Data   []byte // in stored form, nil if it was deleted
	Serial uint64 // of the write
}

// Writes are the changes that an index passes to its view.
type Writes struct {
	Schema *schema.Index
	List   []Write // writes since the last update, in order
	All    bool    // List has all documents, in no order
}

// Read runs a search on the view. news returns the writes since the last update, or all
// documents; it must return all if its argument is true. prepare builds what the search
// needs, under the exclusive lock. search runs concurrently with other searches. Neither may
// keep the view, but they may keep documents.
func (v *View) Read(news func(all bool) Writes, prepare func(v *View) *reply.Error, search func(v *View)) *reply.Error {
	for {
		age, err := v.prepared(news, prepare)
		if err != nil {
			return err
		}
		// Another search may update the view in between. Then this one sees newer documents,
		// unless the structures that were prepared have been dropped.
		v.mu.RLock()
		if v.age == age {
			defer v.mu.RUnlock()
			search(v)
			return nil
		}
		v.mu.RUnlock()
	}
}

// prepared updates the view and prepares it for a search.
func (v *View) prepared(news func(all bool) Writes, prepare func(v *View) *reply.Error) (age int, err *reply.Error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.catchUp(news(v.nextID > mostIDs))
	return v.age, prepare(v)
}

// catchUp applies news to the view. v.mu must be held.
func (v *View) catchUp(news Writes) {
	if news.Schema != v.schema {
		v.schema = news.Schema
		v.drop()
	}
	if news.All {
		v.startAnew(news.List)
		return
	}
	for i := range news.List {
		v.take(&news.List[i])
	}
	v.compact()
}

// drop removes all search structures.
func (v *View) drop() {
	v.text, v.suggesters, v.vectors = nil, nil, nil
	v.age++
}

// startAnew rebuilds the view from all documents, in the order of writing.
func (v *View) startAnew(all []Write) {
	v.rows, v.byKey = make([]row, 0, len(all)), make(map[string]uint32, len(all))
	v.nextID, v.gone, v.keys = 0, 0, keyOrder{}
	v.drop()
	slices.SortFunc(all, func(a, b Write) int { return cmp.Compare(a.Serial, b.Serial) })
	for i := range all {
		v.take(&all[i])
	}
}

// take applies one write.
func (v *View) take(w *Write) {
	old, found := v.byKey[w.Key]
	if found {
		v.forget(old)
		delete(v.byKey, w.Key)
	}
	if w.Data == nil {
		return
	}
	if !found && v.keys.add(w.Key) {
		v.age++ // a search that prepared the list must prepare it again
	}
	id := v.nextID
	v.nextID++
	v.byKey[w.Key] = id
	v.rows = append(v.rows, row{id, w.Data})
	v.put(id, w.Data)
}

func (v *View) forget(id uint32) {
	if i, found := v.place(id); found {
		v.rows[i].data = nil
		v.gone++
	}
	if v.text != nil {
		v.text.Delete(id)
	}
	for _, s := range v.suggesters {
		s.Delete(id)
	}
	for _, x := range v.vectors {
		x.Delete(id)
	}
}

// put adds a document to all search structures.
func (v *View) put(id uint32, data []byte) {
	if v.text != nil {
		v.text.Put(id, v.schema.Document(data))
	}
	for _, s := range v.suggesters {
		s.put(id, data)
	}
	for f, x := range v.vectors {
		putVector(x, f, id, data)
	}
}

// compact removes empty rows if there are more than 1000 and they are more than half of all.
func (v *View) compact() {
	if v.gone <= 1000 || 2*v.gone <= len(v.rows) {
		return
	}
	v.rows = slices.DeleteFunc(v.rows, func(r row) bool { return r.data == nil })
	v.rows = slices.Clip(v.rows)
	v.gone = 0
}

// place finds a row by its id.
func (v *View) place(id uint32) (int, bool) {
	if int(id) < len(v.rows) && v.rows[id].id == id { // no row before it was removed
		return int(id), true
	}
	return slices.BinarySearchFunc(v.rows, id, func(r row, id uint32) int { return cmp.Compare(r.id, id) })
}

// document returns a document by its id, nil if it was deleted.
func (v *View) document(id uint32) []byte {
	if i, found := v.place(id); found {
		return v.rows[i].data
	}
	return nil
}

// all calls f for each document, in the order of the ids.
func (v *View) all(f func(id uint32, data []byte)) {
	for _, r := range v.rows {
		if r.data != nil {
			f(r.id, r.data)
		}
	}
}

// putVector adds the vector of a document to the index of a field, if it has one.
func putVector(x *vectors.Index, f *stored.Field, id uint32, data []byte) {
	value, found := stored.FindValue(data, f.Ordinal)
	if !found || len(value) == 0 {
		return
	}
	if err := x.Put(id, value); err != nil {
		panic("searchtest: invalid stored vector: " + err.Error()) // its length was checked when it was written
	}
}

// needText builds the text index.
func (v *View) needText(config textindex.Config) {
	v.text = textindex.New(config)
	v.all(func(id uint32, data []byte) { v.text.Put(id, v.schema.Document(data)) })
}

// needSuggester returns a suggester and builds it if necessary.
func (v *View) needSuggester(name string, fields []schema.TextField, words analysis.Analyzer) *suggester {
	if s := v.suggesters[name]; s != nil {
		return s
	}
	paths := make([]string, len(fields))
	for i := range fields {
		paths[i] = fields[i].Path
	}
	s := &suggester{textindex.NewSuggester(paths, words), fields}
	v.all(s.put)
	if v.suggesters == nil {
		v.suggesters = make(map[string]*suggester)
	}
	v.suggesters[name] = s
	return s
}

// needVectors returns the index of a vector field and builds it if necessary.
func (v *View) needVectors(f *stored.Field, metric vectors.Metric) (*vectors.Index, error) {
	if x := v.vectors[f]; x != nil {
		return x, nil
	}
	x, err := vectors.NewIndex(f.Type, f.Dimensions, metric)
	if err != nil {
		return nil, err
	}
	v.all(func(id uint32, data []byte) { putVector(x, f, id, data) })
	if v.vectors == nil {
		v.vectors = make(map[*stored.Field]*vectors.Index)
	}
	v.vectors[f] = x
	return x, nil
}
