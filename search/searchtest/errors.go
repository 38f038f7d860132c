package searchtest

import (
	"encoding/json"
	"net/http"
)

// serviceError is a refusal of a whole request in the service's words.
type serviceError struct {
	status  int    // HTTP status
	code    string // often empty: older services never filled it
	message string
	details []errorDetail

	// empty means that the reply carries no body at all, which is what the
	// service does for a document that does not exist.
	empty bool
}

// errorDetail is one entry of the details of a serviceError.
type errorDetail struct {
	code    string
	message string
}

// withCode gives a refusal a code, and another one to its message among the
// details, which is how the service words its own since 2023.
func (e *serviceError) withCode(code, detail string) *serviceError {
	e.code, e.details = code, []errorDetail{{code: detail, message: e.message}}
	return e
}

// invalidAlias is the message of all refusals of aliases that stand for no index:
// what is wrong is said in the details only.
const invalidAlias = "Index alias was not valid for creation."

// reason is what is wrong, wherever the service says it.
func (e *serviceError) reason() string {
	if e.message == invalidAlias {
		return e.details[0].message
	}
	return e.message
}

// invalidRequest is the 400 that the service gives for a body it cannot accept.
// reason is what follows "Details: ", without the line end that the service
// puts behind it.
func invalidRequest(reason string) *serviceError {
	return &serviceError{
		status:  http.StatusBadRequest,
		message: "The request is invalid. Details: " + reason + "\r\n",
	}
}

// notEmulated is the refusal of something that the service can do.
func notEmulated(what string) *serviceError {
	return notImplemented("searchtest does not emulate " + what + ".")
}

// notImplemented is notEmulated in words of one's own.
func notImplemented(message string) *serviceError {
	return &serviceError{status: http.StatusNotImplemented, code: "NotEmulated", message: message}
}

// invalidExpression is the refusal of an OData expression in a parameter, which
// has the name of a GET in every request.
func invalidExpression(why, parameter string) *serviceError {
	return &serviceError{
		status:  http.StatusBadRequest,
		message: "Invalid expression: " + why + "\r\nParameter name: " + parameter,
	}
}

// appendErrorBody appends the JSON form of e.
func appendErrorBody(dst []byte, e *serviceError) []byte {
	dst = append(dst, `{"error":{"code":`...)
	dst = appendJSONString(dst, e.code)
	dst = append(dst, `,"message":`...)
	dst = appendJSONString(dst, e.message)
	if len(e.details) > 0 {
		dst = append(dst, `,"details":[`...)
		for i, d := range e.details {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"code":`...)
			dst = appendJSONString(dst, d.code)
			dst = append(dst, `,"message":`...)
			dst = appendJSONString(dst, d.message)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, `}}`...)
}

// writeError answers with e, with the headers that the service gives errors.
func writeError(w http.ResponseWriter, r *http.Request, e *serviceError) {
	if e.empty {
		w.WriteHeader(e.status)
		return
	}
	w.Header().Set("Content-Language", "en")
	writeJSON(w, r, e.status, appendErrorBody(nil, e))
}

// messageTooLarge is what a body above the limit is refused with.
const messageTooLarge = "The request is too large. Split the batch and try again."

// errorMessage reads the message out of an error body.
func errorMessage(body []byte) string {
	var v struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &v) != nil || v.Error.Message == "" {
		return string(body)
	}
	return v.Error.Message
}
