package search

import "strings"

// ServiceMessage returns the service's own explanation, details included, without
// what differs from request to request. Buffered senders compare it, to tell one
// cause from another.
func (e *Error) ServiceMessage() string {
	texts := []string{e.Message}
	for _, d := range e.Details {
		texts = append(texts, d.Message)
	}
	return strings.Join(texts, " ")
}

// ServiceRequestID returns RequestID.
func (e *Error) ServiceRequestID() string { return e.RequestID }

// LogReason returns what of the error may be logged where documents must not be:
// the service's code and our hint, but not its message, which quotes documents.
func (e *Error) LogReason() string {
	var parts []string
	if e.Code != "" && !strings.ContainsFunc(e.Code, func(r rune) bool { return r > 'z' || r < 'A' }) {
		parts = append(parts, e.Code)
	}
	if e.Hint != "" {
		parts = append(parts, e.Hint)
	}
	return strings.Join(parts, ": ")
}
