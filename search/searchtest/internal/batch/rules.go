package batch

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// The limits of documents.
const (
	MaxKeyLength       = 1024
	MaxTermBytes       = 32_766 // of a string that is indexed as one term
	MaxComplexElements = 3_000  // objects in all complex collections of a document
)

// checkDimensions refuses vectors of the wrong length.
func (p *Parser) checkDimensions(f *stored.Field, n int) {
	if !f.Vector() || n == f.Dimensions {
		return
	}
	p.refuseAction(fmt.Sprintf("There's a mismatch in vector dimensions. The vector field '%s', with dimension of '%d', expects a length of '%d'. However, the provided vector has a length of '%d'. "+
		"Please ensure that the vector length matches the expected length of the vector field.",
		f.Name, f.Dimensions, f.Dimensions, n), "OperationNotAllowed")
}

// noKey refuses a document without a key.
func (p *Parser) noKey() {
	const reason = "Document key cannot be missing or empty."
	if p.version.Has(apiversion.CodedErrors) {
		p.refuseAction(reason, "OperationNotAllowed", reply.Detail{Code: "MissingKeyField", Message: strconv.Itoa(len(p.Actions)) + ": " + reason + " Parameters: actions"})
	} else {
		p.refuseAction(reason, "")
	}
}

// checkKey refuses keys that the service does not allow.
func (p *Parser) checkKey(key string) {
	illegal := func(why string) {
		p.refuseAction(why, "InvalidName", reply.Detail{Code: "InvalidDocumentKey", Message: why})
	}
	if len(key) > MaxKeyLength {
		illegal("Document key cannot be longer than " + strconv.Itoa(MaxKeyLength) + " characters.")
		return
	}
	if key[0] == '_' {
		illegal("Invalid document key: '" + key + "'. Keys cannot start with an underscore (_).")
		return
	}
	for i := range len(key) {
		c := key[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '=' {
			continue
		}
		illegal("Invalid document key: '" + key + "'. Keys can only contain letters, digits, underscore (_), dash (-), or equal sign (=). If the keys in your source data contain other characters, we recommend encoding them with a URL-safe version of Base64 before uploading them to your index.")
		return
	}
}

// TooManyElements refuses a document with n objects in its complex collections.
func TooManyElements(key string, n int) string {
	return fmt.Sprintf("A collection in your document exceeds the maximum elements across all complex collections limit. The document with key '%s' has '%d' objects in collections (JSON arrays). "+
		"At most '%d' objects are allowed to be in collections across the entire document. Please remove objects from collections and try indexing the document again.", key, n, MaxComplexElements)
}

func (p *Parser) noActions() *reply.Error {
	e := p.refuse(fmt.Sprintf("actions : No indexing actions found in the request. Please include between 1 and %d indexing actions in your request.", p.MaxActions))
	e.Code = "MissingRequiredParameter"
	return e
}

func (p *Parser) tooManyActions() *reply.Error {
	return p.refuse(fmt.Sprintf("actions : Too many indexing actions found in the request: %d. Please include between 1 and %d indexing actions in your request.", len(p.Actions)+p.surplus, p.MaxActions))
}

// refused is an action that breaks a rule.
type refused struct {
	end      int // where in the body it was read to
	position int // among the actions
	message  string
	code     string
	details  []reply.Detail
}

// refuseAction refuses the current action, for the first of the rules that it breaks.
func (p *Parser) refuseAction(message, code string, details ...reply.Detail) {
	position := len(p.Actions)
	if n := len(p.refused); n == 0 || p.refused[n-1].position < position {
		p.refused = append(p.refused, refused{p.Pos, position, message, code, details})
	}
}

// refusal returns the 400 for the actions that break rules, nil if none does. It goes back to the first of them.
func (p *Parser) refusal() *reply.Error {
	if len(p.refused) == 0 {
		return nil
	}
	first := p.refused[0]
	p.Pos = first.end
	var reasons []string
	var details []reply.Detail
	for _, r := range p.refused {
		reasons = append(reasons, fmt.Sprintf("%d: %s", r.position, r.message))
		details = append(details, r.details...)
	}
	e := p.refuse("actions : " + strings.Join(reasons, " "))
	e.Code, e.Details = first.code, details
	return e
}

// refuse refuses the whole batch. Newer versions have no line end after the reason.
func (p *Parser) refuse(reason string) *reply.Error {
	if !p.version.Has(apiversion.CodedErrors) {
		return reply.InvalidRequest(reason)
	}
	return parseError(reason)
}

// parseError returns the 400 of the service's JSON reader. Its messages have no line end.
func parseError(message string) *reply.Error {
	return &reply.Error{Status: http.StatusBadRequest, Message: "The request is invalid. Details: " + message}
}
