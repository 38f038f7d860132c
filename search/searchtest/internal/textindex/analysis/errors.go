package analysis

import "fmt"

// UnsupportedError is returned for a component or parameter value that the service supports and this package does
// not.
type UnsupportedError struct {
	Kind   string // "analyzer", "tokenizer", "token filter", "char filter" or "normalizer"
	Name   string // in the definition
	Reason string // the cause, or the unsupported part
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the %s '%s' is not supported: %s", e.Kind, e.Name, e.Reason)
}

// UnknownError is returned for a component that neither the definition nor the service has.
type UnknownError struct {
	Kind string // as in UnsupportedError
	Name string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the %s '%s' does not exist", e.Kind, e.Name)
}

// ParameterError is returned for an invalid parameter of a component.
type ParameterError struct {
	Kind, Name string // as in UnsupportedError
	Reason     string
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("the %s '%s' is invalid: %s", e.Kind, e.Name, e.Reason)
}
