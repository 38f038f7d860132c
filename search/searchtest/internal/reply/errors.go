// Package reply is for what the emulator answers: refusals in the words of the service, text and numbers as it writes
// them in JSON, and the headers of a reply.
package reply

import (
	"encoding/json"
	"net/http"
)

// Error is a refusal of a whole request in the service's words.
type Error struct {
	Status  int    // HTTP status
	Code    string // often empty: older services never filled it
	Message string
	Details []Detail

	// Empty means that the reply carries no body at all, which is what the
	// service does for a document that does not exist.
	Empty bool
}

// Detail is one entry of the details of an Error.
type Detail struct {
	Code    string
	Message string
}

// WithCode gives a refusal a code, and another one to its message among the
// details, which is how the service words its own since 2023.
func (e *Error) WithCode(code, detail string) *Error {
	e.Code, e.Details = code, []Detail{{Code: detail, Message: e.Message}}
	return e
}

// InvalidAlias is the message of all refusals of aliases that stand for no index:
// what is wrong is said in the details only.
const InvalidAlias = "Index alias was not valid for creation."

// Reason says why, wherever the service does.
func (e *Error) Reason() string {
	if e.Message == InvalidAlias {
		return e.Details[0].Message
	}
	return e.Message
}

// InvalidRequest is the 400 that the service gives for a body it cannot accept.
// The reason follows "Details: ", without the line end that the service puts
// behind it.
func InvalidRequest(reason string) *Error {
	return &Error{
		Status:  http.StatusBadRequest,
		Message: "The request is invalid. Details: " + reason + "\r\n",
	}
}

// NotEmulated is the refusal of something that the service can do.
func NotEmulated(what string) *Error {
	return NotImplemented("searchtest does not emulate " + what + ".")
}

// NotImplemented is NotEmulated in words of one's own.
func NotImplemented(message string) *Error {
	return &Error{Status: http.StatusNotImplemented, Code: "NotEmulated", Message: message}
}

// InvalidExpression is the refusal of an OData expression in a parameter, which
// has the name of a GET in every request.
func InvalidExpression(why, parameter string) *Error {
	return &Error{
		Status:  http.StatusBadRequest,
		Message: "Invalid expression: " + why + "\r\nParameter name: " + parameter,
	}
}

// AppendError appends the JSON form of e.
func AppendError(dst []byte, e *Error) []byte {
	dst = append(dst, `{"error":{"code":`...)
	dst = AppendString(dst, e.Code)
	dst = append(dst, `,"message":`...)
	dst = AppendString(dst, e.Message)
	if len(e.Details) > 0 {
		dst = append(dst, `,"details":[`...)
		for i, d := range e.Details {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"code":`...)
			dst = AppendString(dst, d.Code)
			dst = append(dst, `,"message":`...)
			dst = AppendString(dst, d.Message)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, `}}`...)
}

// TooLarge refuses a body above the limit.
const TooLarge = "The request is too large. Split the batch and try again."

// MessageOf reads the message out of an error body.
func MessageOf(body []byte) string {
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
