package batch

import (
	"fmt"
	"net/http"
	"strconv"

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
func (p *Parser) checkDimensions(f *stored.Field, n int) *reply.Error {
	if !f.Vector() || n == f.Dimensions {
		return nil
	}
	err := p.actionError(len(p.Actions), fmt.Sprintf("There's a mismatch in vector dimensions. The vector field '%s', with dimension of '%d', expects a length of '%d'. However, the provided vector has a length of '%d'. "+
		"Please ensure that the vector length matches the expected length of the vector field.",
		f.Name, f.Dimensions, f.Dimensions, n))
	err.Code = "OperationNotAllowed"
	return err
}

// noKey refuses a document without a key.
func (p *Parser) noKey(position int) *reply.Error {
	const reason = "Document key cannot be missing or empty."
	e := p.actionError(position, reason)
	if p.version.Has(apiversion.CodedErrors) {
		e.Code = "OperationNotAllowed"
		e.Details = []reply.Detail{{Code: "MissingKeyField", Message: strconv.Itoa(position) + ": " + reason + " Parameters: actions"}}
	}
	return e
}

// checkKey refuses keys that the service does not allow.
func (p *Parser) checkKey(position int, key string) *reply.Error {
	illegal := func(why string) *reply.Error {
		e := p.actionError(position, why)
		e.Code = "InvalidName"
		e.Details = []reply.Detail{{Code: "InvalidDocumentKey", Message: why}}
		return e
	}
	if len(key) > MaxKeyLength {
		return illegal("Document key cannot be longer than " + strconv.Itoa(MaxKeyLength) + " characters.")
	}
	if key[0] == '_' {
		return illegal("Invalid document key: '" + key + "'. Keys cannot start with an underscore (_).")
	}
	for i := range len(key) {
		c := key[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '=' {
			continue
		}
		return illegal("Invalid document key: '" + key + "'. Keys can only contain letters, digits, underscore (_), dash (-), or equal sign (=). If the keys in your source data contain other characters, we recommend encoding them with a URL-safe version of Base64 before uploading them to your index.")
	}
	return nil
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

// actionError returns the 400 for a rule that one action breaks.
func (p *Parser) actionError(position int, message string) *reply.Error {
	return p.refuse(fmt.Sprintf("actions : %d: %s", position, message))
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
