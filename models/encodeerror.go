package models

// EncodeError says that a document cannot be turned into an action of a
// request, or that its key cannot be read. Nothing was sent.
type EncodeError struct {
	// Field is where in the document the problem lies, in JSON names:
	// "rooms[2].rate", `prices["EUR"]`. It is empty if the problem is the document
	// as a whole or if the place is unknown.
	Field string
	// Err is the problem.
	Err error
}

func (e *EncodeError) Error() string {
	if e.Field == "" {
		return "encode document: " + e.Err.Error()
	}
	return "encode document: field " + e.Field + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *EncodeError) Unwrap() error { return e.Err }
