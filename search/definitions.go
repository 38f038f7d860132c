package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
)

// manager is the part of a client that manages definitions.
type manager struct {
	conn   *connection
	client string // the name of the client's type
}

// span starts the span of an operation.
func (c manager) span(ctx context.Context, operation string) (context.Context, func(error)) {
	return c.conn.span(ctx, c.client+"."+operation)
}

func (c manager) connection() *connection { return c.conn }

// definitionKind describes one kind of definition T: indexes, indexers, aliases and so on.
type definitionKind[T any] struct {
	path     string // "/indexes"
	noun     string // "index"
	notFound error
	check    func(name string) error // of the name
	valid    func(*T) error          // of the definition, before it is sent; may be nil
	named    func(*T) (name, etag string)
	needs    apiversion.Capability // 0 if all api-versions have it
	keep     func(*T)              // fills members that the service does not return, before an update; may be nil
	diff     func(before, after T) (IndexChanges, error)
}

// namedAtAll returns a check that refuses only the empty name, which would change the address. All other rules are
// left to the service, which documents names less strictly than it enforces them.
func namedAtAll(noun string) func(string) error {
	return func(name string) error {
		if name == "" {
			return errors.New("the name of the " + noun + " is empty")
		}
		return nil
	}
}

var indexKind = &definitionKind[models.SearchIndex]{
	path:     "/indexes",
	noun:     "index",
	notFound: ErrIndexNotFound,
	check:    validateIndexName,
	named:    func(x *models.SearchIndex) (string, string) { return x.Name, x.ETag },
	diff:     DiffIndex,
}

// call returns the call for an operation on one definition, or on all if name is "".
func (k *definitionKind[T]) call(operation, name string) call {
	call := call{operation: operation, needs: manageIndexes}
	if k.noun == indexKind.noun {
		call.index = name
	} else if name != "" {
		call.other = definitionName{noun: k.noun, name: name, notFound: k.notFound}
	}
	return call
}

// name returns the name of a definition.
func (k *definitionKind[T]) name(definition *T) string {
	name, _ := k.named(definition)
	return name
}

// allowed returns an error if the api-version lacks the kind.
func (k *definitionKind[T]) allowed(conn *connection) error {
	if err := missing(conn.apiVersion, k.needs); err != nil {
		return fmt.Errorf("%s: %w", k.noun, err)
	}
	return nil
}

func (k *definitionKind[T]) validate(definition *T) error {
	if k.valid == nil {
		return nil
	}
	return k.valid(definition)
}

// readable returns a check for texts that no service can read, such as an interval of "1h".
func readable[T any, F ~[]refusal.Fault](rules func(json.RawMessage, refusal.Others) (F, error)) func(*T) error {
	return func(definition *T) error {
		b, _ := json.Marshal(definition) // the request reports what cannot be encoded
		found, _ := rules(b, nil)
		for _, f := range found {
			if f.Unsent {
				return problemOf(f)
			}
		}
		return nil
	}
}

// url returns the address of a definition.
func (k *definitionKind[T]) url(conn *connection, name string, query ...string) string {
	return conn.url(k.path+quoted(name), query...)
}

// create creates a definition.
func (k *definitionKind[T]) create(ctx context.Context, c manager, operation string, definition T) (_ T, err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	name, _ := k.named(&definition)
	call := k.call(operation, name)
	if err := errors.Join(k.check(name), k.allowed(c.conn), k.validate(&definition), noPlaceholders(definition)); err != nil {
		var none T
		return none, call.wrap(err)
	}
	return k.send(ctx, c, call, http.MethodPost, c.conn.url(k.path), definition, nil, http.StatusCreated)
}

// noPlaceholders returns an error if a new definition has a text that stands for a stored secret: there is none.
func noPlaceholders(definition any) (err error) {
	_ = eachText(definition, func(path string, _ bool, text string) { // the request reports what cannot be encoded
		if text == redacted || text == indexers.Unchanged {
			err = errors.Join(err, fmt.Errorf("%s is %s, which stands for a stored secret: set the secret", path, text))
		}
	})
	return err
}

// eachText calls visit with each string in a definition: its path, and whether its name, or that of an object or list
// around it, is that of a secret. The error is that of encoding the definition.
func eachText(definition any, visit func(path string, secret bool, text string)) error {
	var members any
	b, err := json.Marshal(definition)
	if err == nil {
		err = json.Unmarshal(b, &members)
	}
	var walk func(path, name string, secret bool, value any)
	walk = func(path, name string, secret bool, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(v)) {
				walk(path+"."+member, member, secret || wire.SecretWithin(name), v[member])
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s/%d", path, i), name, secret, x)
			}
		case string:
			visit(strings.TrimPrefix(path, "."), secret || wire.Secret(name), v)
		}
	}
	walk("", "", false, members)
	return err
}

// put creates or replaces a definition. If neither condition is given, the ETag of a definition that was read becomes
// If-Match.
func (k *definitionKind[T]) put(ctx context.Context, c manager, operation string, definition T, ifMatch, ifNoneMatch *azcore.ETag, query ...string) (_ T, err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	var none T
	name, etag := k.named(&definition)
	call := k.call(operation, name)
	if ifMatch == nil && ifNoneMatch == nil && etag != "" {
		ifMatch = (*azcore.ETag)(&etag)
	}
	header, err := conditions(ifMatch, ifNoneMatch)
	if err := errors.Join(k.check(name), k.allowed(c.conn), k.validate(&definition), err); err != nil {
		return none, call.wrap(err)
	}
	if ifNoneMatch == nil || *ifNoneMatch != azcore.ETagAny {
		if err := k.keepsAll(ctx, c.conn, call, name); err != nil {
			return none, err
		}
	} else if err := noPlaceholders(definition); err != nil { // nothing is replaced
		return none, call.wrap(err)
	}
	header.Set("Prefer", "return=representation")
	if k.keep != nil {
		k.keep(&definition)
	}
	return k.send(ctx, c, call, http.MethodPut, k.url(c.conn, name, query...), definition, header, http.StatusOK, http.StatusCreated)
}

// get returns a definition.
func (k *definitionKind[T]) get(ctx context.Context, c manager, operation, name string) (definition T, err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	var none T
	call := k.call(operation, name)
	if err := errors.Join(k.check(name), k.allowed(c.conn)); err != nil {
		return none, call.wrap(err)
	}
	return k.read(ctx, c.conn, call, name)
}

// read requests a definition, without a span.
func (k *definitionKind[T]) read(ctx context.Context, conn *connection, call call, name string) (definition T, err error) {
	var none T
	body, resp, err := conn.getURL(ctx, k.url(conn, name), call)
	if err != nil {
		return none, err
	}
	if definition, err = k.decode(body, name); err == nil {
		return definition, nil
	}
	if got := k.name(&definition); got != "" && k.noun == indexKind.noun {
		if of, _ := conn.aliased(ctx, name, call); strings.EqualFold(of, got) { // err is an error either way
			return none, call.wrap(fmt.Errorf("%w: it is an alias of the index %q: use that name", ErrIndexNotFound, got))
		}
	}
	return none, call.wrap(malformed(err, resp))
}

// decode reads a reply that should hold the definition with this name.
func (k *definitionKind[T]) decode(body []byte, name string) (definition T, err error) {
	if err := decodeInto(&definition, body); err != nil {
		return definition, err
	}
	if got := k.name(&definition); !strings.EqualFold(got, name) {
		err = fmt.Errorf("%w: got the %s %q, want %q", models.ErrMalformedReply, k.noun, got, name)
	}
	return definition, err
}

// delete deletes a definition.
func (k *definitionKind[T]) delete(ctx context.Context, c manager, operation, name string, ifMatch *azcore.ETag) (err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	call := k.call(operation, name)
	header, err := conditions(ifMatch, nil)
	if err := errors.Join(k.check(name), k.allowed(c.conn), err); err != nil {
		return call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, http.MethodDelete, k.url(c.conn, name), acceptMinimal)
	if err != nil {
		return call.wrap(err)
	}
	for name, values := range header {
		req.Raw().Header[name] = values
	}
	_, err = c.conn.send(req, call, http.StatusNoContent, http.StatusOK)
	return err
}

// send sends a definition and returns the one in the reply.
func (k *definitionKind[T]) send(ctx context.Context, c manager, call call, method, url string, definition T, header http.Header, expected ...int) (T, error) {
	var none, created T
	body, err := encodeBody(definition)
	if err != nil {
		return none, call.wrap(err)
	}
	req, err := c.conn.newRequest(ctx, method, url, acceptMinimal)
	if err != nil {
		return none, call.wrap(err)
	}
	for name, values := range header {
		req.Raw().Header[name] = values
	}
	if err := lend(req, body); err != nil {
		return none, call.wrap(err)
	}
	resp, err := c.conn.send(req, call, expected...)
	if err != nil {
		return none, err
	}
	reply, err := runtime.Payload(resp)
	if err == nil {
		created, err = k.decode(reply, k.name(&definition))
	}
	if err != nil {
		return none, call.wrap(malformed(err, resp))
	}
	return created, nil
}

// encodeBody returns v as JSON, without escaping for HTML.
func encodeBody(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// conditions returns the headers for ETag conditions.
func conditions(ifMatch, ifNoneMatch *azcore.ETag) (http.Header, error) {
	header := http.Header{}
	return header, errors.Join(
		condition(header, "If-Match", ifMatch),
		condition(header, "If-None-Match", ifNoneMatch),
	)
}

func condition(header http.Header, name string, etag *azcore.ETag) error {
	switch {
	case etag == nil:
		return nil
	case *etag == "":
		// The service would take an empty header for no condition.
		return fmt.Errorf("the ETag for %s is empty: take it from a definition that the service has returned", name)
	}
	header.Set(name, string(*etag))
	return nil
}

// getPart reads a resource below a definition.
func getPart[T, K any](ctx context.Context, c manager, k *definitionKind[K], operation, name, suffix string) (part T, err error) {
	ctx, end := c.span(ctx, operation)
	defer func() { end(err) }()
	var none T
	call := k.call(operation, name)
	if err := errors.Join(k.check(name), k.allowed(c.conn)); err != nil {
		return none, call.wrap(err)
	}
	body, resp, err := c.conn.getURL(ctx, c.conn.url(k.path+quoted(name)+suffix), call)
	if err != nil {
		return none, err
	}
	if err := json.Unmarshal(body, &part); err != nil {
		return none, call.wrap(malformed(err, resp))
	}
	return part, nil
}
