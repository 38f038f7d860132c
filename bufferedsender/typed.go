package bufferedsender

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// Everything that depends on the document type is in this file and in the methods of BufferedSender that take
// documents. The rest of a sender does not depend on it, so it is compiled once, not for each type in each package.

// documents is a sender's access to documents of their own type.
type documents interface {
	// newDocument returns storage for one document at a time, for a chunk.
	newDocument() document
	// learn is called with the name of the key field from the index definition.
	learn(name string) error
	// load calls Options.Loader, which must not be nil, and returns n actions. put puts the i-th one into a chunk.
	load(ctx context.Context, keys []string) (n int, put func(i int, c *chunk), err error)
	// blank returns an action with a zero document, for handlers.
	blank(typ models.ActionType, tag any) any
	// tag returns the tag of an action.
	tag(action any) any

	// The program's handlers whose events have actions.
	handled() handled
	sent(ctx context.Context, action any, key string, attempt int, batch string)
	completed(ctx context.Context, s *settlement)
	failed(ctx context.Context, s *settlement, err error)
}

// handled reports which handlers with actions are set.
type handled struct{ added, sent, completed, failed bool }

// document is the document being added.
type document interface {
	// key returns its key. The name of the field must be known unless Documents.Key is set.
	key(typ models.ActionType) (string, error)
	version() int64
	// encode appends the wire form of the action. name is the name of the key field, "" if unknown.
	encode(buffer []byte, typ models.ActionType, name, key string) ([]byte, error)
	// added calls the handler ActionAdded.
	added(ctx context.Context, h header, key string, size int) error
	// keep returns a copy of the action for handlers, a *models.IndexDocumentsAction.
	keep(h header) any
	clear()
}

// header is an action without its document.
type header struct {
	typ       models.ActionType
	tag       any
	onOutcome func(models.Outcome)
}

// typedDocuments implements documents.
type typedDocuments[T any] struct {
	handlers events.Handlers[T]
	Documents[T]
	byVersion func(doc T) int64 // see Folding.Version; nil: none
	loader    func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[T], error)
	field     atomic.Pointer[models.KeyField[T]] // nil until known
}

// newDocuments returns the documents of a sender, and the name of their key field if it is known without asking the
// service.
func newDocuments[T any](o *Options[T]) (*typedDocuments[T], string, error) {
	d := &typedDocuments[T]{handlers: o.Handlers, Documents: o.Documents, loader: o.Loader}
	if o.Folding != nil {
		d.byVersion = o.Folding.Version
	}
	if err := checkDocumentType(reflect.TypeFor[T]()); err != nil && o.Documents.Encode == nil {
		return nil, "", err
	}
	field, err := models.KeyFieldOf[T]()
	if err != nil {
		return nil, "", err
	}
	if d.Key != nil {
		field = models.KeyField[T]{} // Documents.Key may read another field
	}
	if d.KeyField != "" && field.Name != d.KeyField {
		if field.Name != "" {
			return nil, "", fmt.Errorf("Documents.KeyField is %q but the struct tag of %T says %q", d.KeyField, *new(T), field.Name)
		}
		return d, d.KeyField, d.learn(d.KeyField)
	}
	if field.Name != "" {
		d.field.Store(&field)
	}
	return d, field.Name, nil
}

func (d *typedDocuments[T]) learn(name string) error {
	field, err := models.KeyFieldByName[T](name)
	if err != nil {
		if d.Key == nil {
			return err
		}
		field = models.KeyField[T]{Name: name} // read from the JSON; enough for deletes by key
	}
	d.field.Store(&field)
	return nil
}

func (d *typedDocuments[T]) load(ctx context.Context, keys []string) (n int, put func(i int, c *chunk), err error) {
	actions, err := d.loader(ctx, keys)
	return len(actions), func(i int, c *chunk) { putAction(c, &actions[i]) }, err
}

func (d *typedDocuments[T]) blank(typ models.ActionType, tag any) any {
	return &models.IndexDocumentsAction[T]{Type: typ, Tag: tag}
}

func (d *typedDocuments[T]) tag(action any) any { return actionOf[T](action).Tag }

func (d *typedDocuments[T]) handled() handled {
	h := &d.handlers
	return handled{h.ActionAdded != nil, h.ActionSent != nil, h.ActionCompleted != nil, h.ActionFailed != nil}
}

func (d *typedDocuments[T]) sent(ctx context.Context, action any, key string, attempt int, batch string) {
	d.handlers.ActionSent(ctx, &events.ActionSent[T]{Action: actionOf[T](action), Key: key, Attempt: attempt, BatchID: batch})
}

func (d *typedDocuments[T]) completed(ctx context.Context, s *settlement) {
	d.handlers.ActionCompleted(ctx, &events.ActionCompleted[T]{
		Action: actionOf[T](s.Item.Value.action), Key: s.Item.Key, Result: s.Result.Value, Attempts: s.Item.Attempt,
		Folded: s.Folded, Superseded: s.Superseded,
	})
}

func (d *typedDocuments[T]) failed(ctx context.Context, s *settlement, err error) {
	e := &events.ActionFailed[T]{
		Action: actionOf[T](s.Item.Value.action), Key: s.Item.Key, Err: err, Attempts: s.Item.Attempt, Unknown: s.Unknown,
		Unsent: s.Outcome == publisher.Unsent, DeadLetter: s.Kept, Folded: s.Folded, Superseded: s.Superseded,
	}
	if s.Result.Value.StatusCode != 0 && s.Result.Err == nil {
		answer := s.Result.Value
		e.Result = &answer
	}
	d.handlers.ActionFailed(ctx, e)
}

// actionOf returns an action that keep or blank created.
func actionOf[T any](action any) models.IndexDocumentsAction[T] {
	return *action.(*models.IndexDocumentsAction[T]) //nolint:forcetypeassert // nothing else makes one
}

func (d *typedDocuments[T]) newDocument() document { return &typedDocument[T]{of: d} }

// typedDocument implements document.
type typedDocument[T any] struct {
	of    *typedDocuments[T]
	value T // a copy; its address can be passed on without an allocation
}

// putAction puts an action into a chunk, ready to be added.
func putAction[T any](c *chunk, a *models.IndexDocumentsAction[T]) {
	c.header = header{a.Type, a.Tag, a.OnOutcome}
	putDocument(c, a.Document)
}

func putDocument[T any](c *chunk, doc T) {
	c.document.(*typedDocument[T]).value = doc //nolint:forcetypeassert // of this sender
}

func (d *typedDocument[T]) clear() { d.value = *new(T) }

func (d *typedDocument[T]) version() int64 { return d.of.byVersion(d.value) }

func (d *typedDocument[T]) key(typ models.ActionType) (string, error) {
	field := d.of.field.Load()
	if d.of.Key == nil {
		return field.GetFrom(&d.value)
	}
	key, err := d.access()
	// With a key other than the document's, its result would be assigned to another action. So compare them where possible.
	if err == nil && field != nil && typ != models.ActionTypeDelete { // a delete is written with this key
		written, err := field.GetFrom(&d.value)
		if err != nil {
			return key, err
		}
		if written != key {
			return key, fmt.Errorf("Documents.Key returns %q, but the field %q of the document is %q", key, field.Name, written)
		}
	}
	return key, err
}

// access calls Documents.Key and turns its panic into an error.
func (d *typedDocument[T]) access() (key string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Documents.Key panicked: %v", v)
		}
	}()
	return d.of.Key(d.value), nil
}

func (d *typedDocument[T]) encode(buffer []byte, typ models.ActionType, name, key string) ([]byte, error) {
	if d.of.Encode == nil {
		return models.AppendActionFrom(buffer, typ, &d.value)
	}
	doc, err := encodeBy(d.of.Encode, d.value)
	if err == nil {
		buffer, err = models.AppendEncoded(buffer, typ, doc)
	}
	if err == nil && name != "" {
		err = sameKey("the Encoder writes", name, doc, key)
	}
	return buffer, err
}

func (d *typedDocument[T]) added(ctx context.Context, h header, key string, size int) error {
	return d.of.handlers.ActionAdded(ctx, &events.ActionAdded[T]{Action: d.action(h), Key: key, Bytes: size})
}

func (d *typedDocument[T]) keep(h header) any {
	kept := d.action(h)
	return &kept
}

func (d *typedDocument[T]) action(h header) models.IndexDocumentsAction[T] {
	return models.IndexDocumentsAction[T]{Type: h.typ, Document: d.value, Tag: h.tag, OnOutcome: h.onOutcome}
}

// checkDocumentType returns an error if no value of a type can be a JSON object, as a document must be.
func checkDocumentType(t reflect.Type) error {
	of := t
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil // its JSON may be an object
	}
	text := t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Interface:
		if !text {
			return nil
		}
	}
	return fmt.Errorf("documents of type %s are not JSON objects: use a struct, a map, json.RawMessage or models.Patch, or set Encoder", of)
}

// MergePatch adds actions that change some fields of existing documents.
func (s *sender) MergePatch(ctx context.Context, patches ...*models.Patch) error {
	return s.addPatches(ctx, models.ActionTypeMerge, patches)
}

// MergeOrUploadPatch is MergePatch, but creates missing documents.
func (s *sender) MergeOrUploadPatch(ctx context.Context, patches ...*models.Patch) error {
	return s.addPatches(ctx, models.ActionTypeMergeOrUpload, patches)
}

func (s *sender) addPatches(ctx context.Context, typ models.ActionType, patches []*models.Patch) error {
	if len(patches) == 0 {
		return nil
	}
	ctx = orBackground(ctx)
	if err := ended(ctx); err != nil {
		return &AddError{Err: err}
	}
	field, err := s.keyField.resolve(ctx)
	if err != nil {
		return &AddError{Err: err}
	}
	keyField, err := models.KeyFieldByName[*models.Patch](field)
	if err != nil {
		return &AddError{Err: err}
	}
	return s.addAll(ctx, len(patches), true, func(ctx context.Context, c *chunk, i int) (string, error) {
		if patches[i] == nil {
			return "", unfit(errors.New("the patch is nil: make one with models.NewPatch"))
		}
		key, err := keyField.Get(patches[i])
		if err != nil {
			return "", unfit(err)
		}
		c.header.typ, c.patch = typ, patches[i]
		defer func() { c.patch = nil }()
		return key, c.addKeyed(ctx, key)
	})
}

// MergeMissing is the policy for a merge of a missing document (404).
type MergeMissing uint8

const (
	// MergeMissingFail fails the merge. Nothing was changed.
	MergeMissingFail MergeMissing = iota
	// MergeMissingIgnore completes the merge. Its Result has status 404.
	MergeMissingIgnore
	// MergeMissingUpload sends the action again as mergeOrUpload, without using an attempt.
	MergeMissingUpload
)

// A merge is encoded with room for the longer name. So it keeps the size with which it was admitted if it is sent again
// as a mergeOrUpload. Blanks between tokens have no meaning in JSON.
const (
	actionName = `{"@search.action":"`
	mergeRoom  = len(models.ActionTypeMergeOrUpload) - len(models.ActionTypeMerge)
)

var (
	mergeHead  = []byte(actionName + string(models.ActionTypeMerge) + `"`)
	wideHead   = append(bytes.Clone(mergeHead), bytes.Repeat([]byte(" "), mergeRoom)...)
	upsertHead = []byte(actionName + string(models.ActionTypeMergeOrUpload) + `"`)
)

// widen makes room for the longer name in the encoded merge at the end of buf.
func widen(buf []byte, start int) []byte {
	if !bytes.HasPrefix(buf[start:], mergeHead) || bytes.HasPrefix(buf[start:], wideHead) {
		return buf
	}
	at := start + len(mergeHead)
	return slices.Insert(buf, at, wideHead[len(mergeHead):]...)
}

// narrow undoes widen, for code that expects no blanks.
func narrow(action []byte) []byte {
	if !bytes.HasPrefix(action, wideHead) {
		return action
	}
	return append(bytes.Clone(mergeHead), action[len(wideHead):]...)
}

// judge decides the next step of a merge whose document is missing.
func (m MergeMissing) judge(action []byte, r publisher.Result[models.IndexingResult]) publisher.Result[models.IndexingResult] {
	switch m {
	case MergeMissingIgnore:
		r.Next, r.Ignored = publisher.Complete, true
	case MergeMissingUpload:
		if bytes.HasPrefix(action, wideHead) {
			r.Next, r.Body = publisher.Requeue, bytes.Clone(action)
			copy(r.Body, upsertHead)
		}
	}
	return r
}

// missingDocument reports whether a result is about a merge of a missing document.
func missingDocument(typ models.ActionType, answer *models.IndexingResult) bool {
	return typ == models.ActionTypeMerge && answer.StatusCode == http.StatusNotFound
}
