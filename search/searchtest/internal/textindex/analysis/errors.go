package analysis

import "fmt"

// UnsupportedError says that the service knows a component, or a value of one of
// its parameters, and this package does not.
type UnsupportedError struct {
	Kind   string // "analyzer", "tokenizer", "token filter", "char filter" or "normalizer"
	Name   string // as the definition has it
	Reason string // why, or which part
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the %s '%s' is not supported: %s", e.Kind, e.Name, e.Reason)
}

// UnknownError says that neither the definition nor the service has a component
// of that name.
type UnknownError struct {
	Kind string // as in UnsupportedError
	Name string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the %s '%s' does not exist", e.Kind, e.Name)
}

// ParameterError says that a parameter of a component cannot be what it is.
type ParameterError struct {
	Kind, Name string // as in UnsupportedError
	Reason     string
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("the %s '%s' is invalid: %s", e.Kind, e.Name, e.Reason)
}
