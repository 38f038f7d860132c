// Package deadletter is for programs that must not lose what the service has
// refused: it keeps each action that a sender gave up, with the reason, until it
// was sent again after a fix, or somebody decides against it.
package deadletter
