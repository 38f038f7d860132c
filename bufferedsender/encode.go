package bufferedsender

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// The envelope of a request body.
const (
	bodyOpen  = `{"value":[`
	bodyComma = `,`
	bodyClose = `]}`

	envelopeBytes = len(bodyOpen) + len(bodyClose)
	// smallestBatch is the size of a request with the shortest possible action.
	smallestBatch = envelopeBytes + len(`{"@search.action":"merge","k":"1"}`)
)

// A call that adds many documents is cut into chunks. The actions of a chunk are accepted under one lock.
const (
	chunkActions = 16
	chunkBytes   = 64 << 10
	largeAction  = 64 << 10
)

// payload accompanies an encoded action.
type payload struct {
	typ models.ActionType
	// action is a *models.IndexDocumentsAction, kept only if a handler needs it.
	action any
	// origin is the span of the adding call, shared by its actions; nil if the span is not recorded.
	origin *trace.SpanContext
	// waiter is notified of the outcome; nil if no call waits for this action.
	waiter *waiter
	// own holds per-action values that are not part of the document; nil if there are none.
	own     *own
	from    reserved // the action's lease; zero without a queue
	version int64    // see Folding.Version; 0: none
	newest  int64    // of an outdated action: the newer version of its key; equal to an inherited version
}

// inherits reports whether the version is that of an earlier action of the key.
func (v *payload) inherits() bool { return v.version != 0 && v.version == v.newest }

// own holds the values of an action that are not kept with its document.
type own struct {
	tag       any
	onOutcome func(models.Outcome)
	until     func() time.Duration // see models.RawAction
}

// tag returns the tag of an action.
func (o *observer) tag(p *payload) any {
	switch {
	case p.action != nil:
		return o.documents.tag(p.action)
	case p.own != nil:
		return p.own.tag
	}
	return nil
}

// fill gives handlers a zero document for an action that has none.
func (o *observer) fill(p *payload) {
	if o.wantsActions && p.action == nil {
		p.action = o.documents.blank(p.typ, o.tag(p))
	}
}

// chunk collects encoded actions that are accepted together. A sender pools its chunks.
type chunk struct {
	s        *sender
	origin   *trace.SpanContext
	class    uint8    // service class
	header   header   // of the action being added
	document document // the document being added, unless patch or raw is set
	scratch  bytes.Buffer
	ends     []int // of each body in scratch
	items    []item
	size     int               // most actions of this chunk
	bytes    int               // most bytes of this chunk
	waiters  []waiter          // of the following actions, in order; nil if no call waits
	patch    *models.Patch     // or nil
	raw      *models.RawAction // or nil

	// A context, and its marked copy for handlers.
	unmarked, marked context.Context
}

// mark returns ctx marked as a handler's context. The last context is cached, because most calls use the same one.
func (c *chunk) mark(ctx context.Context) context.Context {
	// A context that is not a pointer may not be comparable.
	same := reflect.TypeOf(ctx).Kind() == reflect.Pointer || ctx == context.Background()
	if !same || ctx != c.unmarked {
		c.unmarked, c.marked = ctx, c.s.observer.mark(ctx)
	}
	return c.marked
}

func (s *sender) newChunk(ctx context.Context, expected int) *chunk {
	c, ok := s.chunks.Get().(*chunk)
	if !ok {
		c = &chunk{s: s, document: s.documents.newDocument()}
	}
	c.size, c.bytes = min(expected, chunkActions), chunkBytes
	if s.feed != nil {
		c.size, c.bytes = min(expected, queuedActions), queuedBytes
	}
	c.class = s.options.classFor(ctx)
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		origin := span // allocates only here
		c.origin = &origin
	}
	return c
}

// free returns the chunk to the pool, unless one giant document made it too large to keep. Actions still in it were not
// accepted: a handler or a sequence ended the goroutine or panicked.
func (c *chunk) free() {
	c.clear()
	c.origin, c.waiters, c.patch, c.raw = nil, nil, nil, nil
	if c.scratch.Cap() <= 1<<20 {
		c.s.chunks.Put(c)
	}
}

func (c *chunk) full() bool {
	return len(c.items) >= c.size || c.scratch.Len() >= c.bytes
}

// add checks and encodes the action in header and document, then asks the ActionAdded handler. An error is about this
// action; earlier ones stay in the chunk.
func (c *chunk) add(ctx context.Context) (key string, err error) {
	if !c.header.typ.Valid() {
		return "", unknownType(c.header.typ)
	}
	if !c.s.options.keyFunc {
		if _, err := c.s.keyField.resolve(ctx); err != nil {
			return "", err // only the service has the answer
		}
	}
	if key, err = c.document.key(c.header.typ); err != nil {
		return "", unfit(err)
	}
	return key, c.addKeyed(ctx, key)
}

func unknownType(typ models.ActionType) error {
	return unfit(fmt.Errorf("unknown action type %q: use models.UploadAction, MergeAction, MergeOrUploadAction or DeleteAction", typ))
}

// addKeyed is add for an action with a known key.
func (c *chunk) addKeyed(ctx context.Context, key string) error {
	h := &c.header
	if err := keys.Validate(key); err != nil {
		return unfit(err)
	}
	version, err := c.s.options.versionOf(c)
	if err != nil {
		return unfit(err)
	}
	before := c.scratch.Len()
	if err := c.encode(key); err != nil {
		return unfit(err)
	}
	size := c.scratch.Len() - before
	if limit := int(c.s.largestBody.Load()); size+envelopeBytes > limit {
		c.scratch.Truncate(before)
		return unfit(&DocumentTooLargeError{Size: size + envelopeBytes, Limit: limit})
	}
	if c.s.observer.handled.added {
		if c.s.publisher.Closing() { // closed while the document was encoded
			c.scratch.Truncate(before)
			return ErrClosed
		}
		if err := c.s.observer.added(c.mark(ctx), c, key, size); err != nil {
			c.scratch.Truncate(before)
			return err
		}
	}
	value := payload{typ: h.typ, origin: c.origin, version: version}
	if h.onOutcome != nil && c.s.feed != nil && !c.s.feed.sends {
		c.scratch.Truncate(before)
		return errAdderOnly
	}
	var until func() time.Duration
	if c.raw != nil {
		until = c.raw.Until
	}
	if h.onOutcome != nil || until != nil || h.tag != nil && !c.s.observer.wantsActions {
		value.own = &own{tag: h.tag, onOutcome: h.onOutcome, until: until}
	}
	if len(c.waiters) > 0 {
		value.waiter, c.waiters = &c.waiters[0], c.waiters[1:]
	}
	if c.s.observer.wantsActions {
		value.action = c.document.keep(*h) // allocates only here
	}
	c.items = append(c.items, item{Key: key, Value: value, Class: c.class})
	c.ends = append(c.ends, c.scratch.Len())
	return nil
}

// encode appends the wire form of the action to scratch.
func (c *chunk) encode(key string) error {
	typ := c.header.typ
	buffer := c.scratch.AvailableBuffer()
	var err error
	switch field := c.s.keyField.name(); {
	case c.patch != nil:
		buffer, err = models.AppendActionFrom(buffer, typ, c.patch)
	case typ == models.ActionTypeDelete && field != "":
		buffer = models.AppendDelete(buffer, field, key) // the service ignores other fields
	case c.raw != nil:
		buffer, err = models.AppendEncoded(buffer, typ, c.raw.Document)
		if err == nil && field != "" {
			err = sameKey("the JSON has", field, c.raw.Document, key)
		}
	default:
		buffer, err = c.document.encode(buffer, typ, field, key)
	}
	if err != nil {
		return err
	}
	if typ == models.ActionTypeMerge && c.s.options.OnMergeMissing == MergeMissingUpload {
		buffer = widen(buffer, 0)
	}
	c.scratch.Write(buffer)
	return nil
}

// sameKey returns an error if the key in an encoded document differs from key: the result of the document would be
// assigned to another action. says begins the error text.
func sameKey(says, name string, encoded json.RawMessage, key string) error {
	field, err := models.KeyFieldByName[json.RawMessage](name)
	if err != nil {
		return err
	}
	written, err := field.Get(encoded)
	if err != nil {
		return err
	}
	if written != key {
		return fmt.Errorf("%s %q in the field %q, but the key of the document is %q", says, written, name, key)
	}
	return nil
}

// encodeBy calls the user's encoder and turns its panic into an error.
func encodeBy(encoder func(any) ([]byte, error), doc any) (encoded []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			encoded, err = nil, &models.EncodeError{Err: fmt.Errorf("the Encoder panicked: %v", v)}
		}
	}()
	if encoded, err = encoder(doc); err != nil {
		return nil, &models.EncodeError{Err: err}
	}
	return encoded, nil
}

// documentOf returns the document of an encoded action as JSON: everything after the member that names the action.
func documentOf(action []byte) []byte {
	at := bytes.IndexByte(action, ',')
	if at < 0 {
		return []byte("{}")
	}
	return append([]byte("{"), action[at+1:]...)
}

// accept hands the chunk over to the publisher or the queue and returns how many actions were accepted. Afterwards the
// chunk is empty and a turn to encode has ended.
func (c *chunk) accept(ctx context.Context, wait, turn bool) (int, error) {
	if len(c.items) == 0 {
		if turn {
			c.s.publisher.EndTurn()
		}
		return 0, nil
	}
	c.cut()
	if c.s.feed != nil {
		held := int64(c.scratch.Len())
		c.s.publisher.Outside(1, held)
		defer c.s.publisher.Outside(-1, -held)
		if turn {
			c.s.publisher.EndTurn()
		}
		n, err := c.s.feed.append(ctx, c.items, wait)
		if unknown := (*unknownAppend)(nil); errors.As(err, &unknown) {
			c.scratch = bytes.Buffer{} // a queue call in flight still uses the bodies
		}
		c.clear()
		return n, err
	}
	n, err := c.s.publisher.Add(ctx, c.items, wait, turn)
	c.clear()
	return n, translate(err)
}

// cut sets the bodies of the items to their pieces of scratch; the publisher or the queue copies those that it accepts.
// For the publisher, large bodies are copied here, outside its lock. With Folding all are, because folding replaces
// bodies.
func (c *chunk) cut() {
	encoded, start := c.scratch.Bytes(), 0
	for i, end := range c.ends {
		it := &c.items[i]
		it.Body = encoded[start:end:end]
		if start = end; c.s.feed == nil && (c.s.options.Folding != nil || len(it.Body) > largeAction) {
			it.Body, it.Own = bytes.Clone(it.Body), true
		}
	}
}

// clear empties the chunk.
func (c *chunk) clear() {
	clear(c.items)
	c.items, c.ends = c.items[:0], c.ends[:0]
	c.header = header{}
	c.document.clear()
	c.scratch.Reset()
}

// keyField is the name of the documents' key field. If neither the options nor the type name it, the first caller that
// needs it fetches the index definition, once. A failure is returned to that caller and to the callers that waited for
// it, and is not cached: the next call asks again.
type keyField struct {
	indexer any
	learn   func(name string) error // called with the name from the service

	known atomic.Pointer[string] // nil until known

	mu    sync.Mutex
	fetch *keyFetch // in flight, or nil; guarded by mu
}

// keyFetch is one request to the service that several calls may wait for.
type keyFetch struct {
	done chan struct{} // closed once err or keyField.known is set
	err  error
	mine bool // err is due to the asking caller's own context
}

// newKeyField returns a keyField with that name; an empty name means that the service must be asked.
func newKeyField(indexer any, learn func(name string) error, name string) *keyField {
	k := &keyField{indexer: indexer, learn: learn}
	if name != "" {
		k.known.Store(&name)
	}
	return k
}

// name returns the name, or "" if it is not known yet.
func (k *keyField) name() string {
	if name := k.known.Load(); name != nil {
		return *name
	}
	return ""
}

// resolve returns the name. It may ask the service, within ctx.
func (k *keyField) resolve(ctx context.Context) (string, error) {
	for {
		if name := k.known.Load(); name != nil {
			return *name, nil
		}
		k.mu.Lock()
		fetch := k.fetch
		leads := fetch == nil && k.known.Load() == nil
		if leads {
			fetch = &keyFetch{done: make(chan struct{})}
			k.fetch = fetch
		}
		k.mu.Unlock()
		switch {
		case leads:
			k.ask(ctx, fetch)
		case fetch == nil:
			continue // it became known meanwhile
		default:
			select {
			case <-fetch.done:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		if fetch.err != nil && (leads || !fetch.mine) {
			return "", fetch.err
		}
	}
}

// ask fetches the index definition on the goroutine of the first caller, without a lock.
func (k *keyField) ask(ctx context.Context, fetch *keyFetch) {
	fetch.err = errors.New("the client panicked") // replaced unless it panics
	defer func() {
		k.mu.Lock()
		k.fetch = nil
		k.mu.Unlock()
		close(fetch.done)
	}()
	name, err := k.fetchName(ctx)
	if err == nil {
		err = k.learn(name)
	}
	if err != nil {
		fetch.mine = ctx.Err() != nil
		fetch.err = fmt.Errorf("%w: cannot read it from the index definition (set KeyField to do without): %w", errNoKeyField, err)
		return
	}
	k.known.Store(&name)
	fetch.err = nil
}

func (k *keyField) fetchName(ctx context.Context) (string, error) {
	namer, ok := k.indexer.(models.KeyFieldNamer)
	if !ok {
		return "", errors.New("the client has no method KeyFieldName")
	}
	return namer.KeyFieldName(ctx)
}
