package searchtest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// The limits of documents.
const (
	maxKeyLength       = 1024
	maxTermBytes       = 32_766 // of a string that is indexed as one term
	maxComplexElements = 3_000  // objects in all complex collections of a document
)

// checkDimensions refuses vectors of the wrong length.
func (p *batchParser) checkDimensions(f *stored.Field, n int) *serviceError {
	if !f.Vector() || n == f.Dimensions {
		return nil
	}
	err := p.actionError(len(p.actions), fmt.Sprintf("There's a mismatch in vector dimensions. The vector field '%s', with dimension of '%d', expects a length of '%d'. However, the provided vector has a length of '%d'. "+
		"Please ensure that the vector length matches the expected length of the vector field.",
		f.Name, f.Dimensions, f.Dimensions, n))
	err.code = "OperationNotAllowed"
	return err
}

// noKey refuses a document without a key.
func (p *batchParser) noKey(position int) *serviceError {
	const reason = "Document key cannot be missing or empty."
	e := p.actionError(position, reason)
	if p.version.Has(apiversion.CodedErrors) {
		e.code = "OperationNotAllowed"
		e.details = []errorDetail{{code: "MissingKeyField", message: strconv.Itoa(position) + ": " + reason + " Parameters: actions"}}
	}
	return e
}

// checkKey refuses keys that the service does not take.
func (p *batchParser) checkKey(position int, key string) *serviceError {
	illegal := func(why string) *serviceError {
		e := p.actionError(position, why)
		e.code = "InvalidName"
		e.details = []errorDetail{{code: "InvalidDocumentKey", message: why}}
		return e
	}
	if len(key) > maxKeyLength {
		return illegal("Document key cannot be longer than " + strconv.Itoa(maxKeyLength) + " characters.")
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

func tooManyElements(key string, n int) string {
	return fmt.Sprintf("A collection in your document exceeds the maximum elements across all complex collections limit. The document with key '%s' has '%d' objects in collections (JSON arrays). "+
		"At most '%d' objects are allowed to be in collections across the entire document. Please remove objects from collections and try indexing the document again.", key, n, maxComplexElements)
}

func (p *batchParser) noActions() *serviceError {
	e := p.refuse(fmt.Sprintf("actions : No indexing actions found in the request. Please include between 1 and %d indexing actions in your request.", p.maxActions))
	e.code = "MissingRequiredParameter"
	return e
}

func (p *batchParser) tooManyActions() *serviceError {
	return p.refuse(fmt.Sprintf("actions : Too many indexing actions found in the request: %d. Please include between 1 and %d indexing actions in your request.", len(p.actions)+p.surplus, p.maxActions))
}

// actionError is the 400 for a rule that one action breaks.
func (p *batchParser) actionError(position int, message string) *serviceError {
	return p.refuse(fmt.Sprintf("actions : %d: %s", position, message))
}

// refuse refuses the whole batch. Newer versions put no line end behind the
// reason.
func (p *batchParser) refuse(reason string) *serviceError {
	if !p.version.Has(apiversion.CodedErrors) {
		return invalidRequest(reason)
	}
	return parseError(reason)
}

// parseError is the 400 of the service's JSON reader, whose messages end
// without a line end.
func parseError(message string) *serviceError {
	return &serviceError{status: http.StatusBadRequest, message: "The request is invalid. Details: " + message}
}
