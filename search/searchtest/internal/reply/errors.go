// Package reply writes replies in the form of the service: refusals with its texts, JSON text and numbers, and headers.
package reply

import (
	"encoding/json"
	"net/http"
)

// Error is a refusal of a whole request, with the service's text.
type Error struct {
	Status  int    // HTTP status
	Code    string // often empty: older versions of the service have no codes
	Message string
	Details []Detail

	// Empty means that the reply has no body, as for a document that does not exist.
	Empty bool
}

// Detail is one entry of the details of an Error.
type Detail struct {
	Code    string
	Message string
}

// WithCode sets the code of a refusal, and a detail with another code and the same message,
// as the service does since 2023.
func (e *Error) WithCode(code, detail string) *Error {
	e.Code, e.Details = code, []Detail{{Code: detail, Message: e.Message}}
	return e
}

// InvalidAlias is the message of all refusals of aliases without an index. Only the details
// contain the reason.
const InvalidAlias = "Index alias was not valid for creation."

// Reason returns the reason of the refusal, from the message or from the details.
func (e *Error) Reason() string {
	if e.Message == InvalidAlias {
		return e.Details[0].Message
	}
	return e.Message
}

// InvalidRequest returns the 400 for a body that the service cannot accept. The reason
// follows "Details: ", without the service's line end.
func InvalidRequest(reason string) *Error {
	return &Error{
		Status:  http.StatusBadRequest,
		Message: "The request is invalid. Details: " + reason + "\r\n",
	}
}

// NotEmulated returns the refusal of a feature that only the service has.
func NotEmulated(what string) *Error {
	return NotImplemented("searchtest does not emulate " + what + ".")
}

// NotImplemented is NotEmulated with another message.
func NotImplemented(message string) *Error {
	return &Error{Status: http.StatusNotImplemented, Code: "NotEmulated", Message: message}
}

// InvalidExpression returns the refusal of an OData expression in a parameter. The message
// has the parameter's name of a GET for all requests.
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

// TooLarge is the message of the refusal of a body above the limit.
const TooLarge = "The request is too large. Split the batch and try again."

// MessageOf returns the message in an error body.
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
