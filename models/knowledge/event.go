package knowledge

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Started is the first event of a stream.
type Started struct {
	// RequestID identifies the request to the service's support.
	RequestID string `json:"requestId"`
	// KnowledgeBaseName is the base.
	KnowledgeBaseName string `json:"knowledgeBaseName"`
	// OutputMode is the form of the answer.
	OutputMode OutputMode `json:"outputMode"`
	// ReasoningEffort is the effort.
	ReasoningEffort *ReasoningEffort `json:"reasoningEffort,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ActivityStarted says that an activity has begun.
type ActivityStarted struct {
	// ID is the number of the activity.
	ID int `json:"id"`
	// Type is its type, such as "searchIndex".
	Type string `json:"type"`
	// StartedAt is when it began.
	StartedAt *time.Time `json:"startedAt,omitzero"`
	// KnowledgeSourceName is the source that is asked.
	KnowledgeSourceName string `json:"knowledgeSourceName,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnswerCompleted is a message of the answer.
type AnswerCompleted struct {
	// MessageIndex is its position, from 0.
	MessageIndex int `json:"messageIndex"`
	// Message is the message.
	Message Message `json:"message"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Completed is the last event of a stream that succeeds.
type Completed struct {
	// StatusCode is 200, or 206 if a source failed or the time was up.
	StatusCode int `json:"statusCode"`
	// Response is the whole answer.
	Response Response `json:"response"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Failed is the last event of a stream that fails.
type Failed struct {
	// Error is the reason.
	Error ErrorDetail `json:"error"`
	// Activity are the steps up to the failure.
	Activity []Activity `json:"activity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Event is an event of a stream: Started, then ActivityStarted and ActivityCompleted for each
// activity, AnswerCompleted for each message, ReferencesCompleted, and at the end Completed or
// Failed. UnknownEvent is what a newer service sends between them.
type Event interface{ event() }

// ActivityCompleted says that an activity has ended.
type ActivityCompleted struct{ Activity Activity }

// ReferencesCompleted are all references of the answer.
type ReferencesCompleted struct{ References []Reference }

// UnknownEvent is an event of a name that this library does not know.
type UnknownEvent struct {
	// Name is its name, "message" if the service gave none.
	Name string
	// Data is its content.
	Data string
}

func (Started) event()             {}
func (ActivityStarted) event()     {}
func (ActivityCompleted) event()   {}
func (AnswerCompleted) event()     {}
func (ReferencesCompleted) event() {}
func (Completed) event()           {}
func (Failed) event()              {}
func (UnknownEvent) event()        {}

// DecodeEvent returns the event of that name, and whether it ends the stream.
func DecodeEvent(name, data string) (event Event, last bool, err error) {
	b := []byte(data)
	switch name {
	case "retrieval.started":
		event, err = object.Read[Started](b)
	case "activity.started":
		event, err = object.Read[ActivityStarted](b)
	case "activity.completed":
		var activity Activity
		activity, err = object.Read[Activity](b)
		event = ActivityCompleted{activity}
	case "answer.completed":
		event, err = object.Read[AnswerCompleted](b)
	case "references.completed":
		var list []Reference
		list, err = object.Read[[]Reference](b)
		event = ReferencesCompleted{list}
	case "response.completed":
		event, err = object.Read[Completed](b)
		last = true
	case "error":
		event, err = object.Read[Failed](b)
		last = true
	default:
		event = UnknownEvent{name, data}
	}
	if err != nil {
		return nil, last, fmt.Errorf("event %q: %w", name, err)
	}
	return event, last, nil
}
