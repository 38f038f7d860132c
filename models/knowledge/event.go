package knowledge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// Started is the first event of a stream.
type Started struct {
	// RequestID identifies the request in a support case.
	RequestID string `json:"requestId"`
	// KnowledgeBaseName is the name of the base.
	KnowledgeBaseName string `json:"knowledgeBaseName"`
	// OutputMode is the form of the answer.
	OutputMode OutputMode `json:"outputMode"`
	// ReasoningEffort is the effort of the model.
	ReasoningEffort *ReasoningEffort `json:"reasoningEffort,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ActivityStarted is the start of an activity.
type ActivityStarted struct {
	// ID is the number of the activity.
	ID int `json:"id"`
	// Type is the type of the activity, such as "searchIndex".
	Type string `json:"type"`
	// StartedAt is the time of the start.
	StartedAt *time.Time `json:"startedAt,omitzero"`
	// KnowledgeSourceName is the source that is queried.
	KnowledgeSourceName string `json:"knowledgeSourceName,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AnswerCompleted is a message of the answer.
type AnswerCompleted struct {
	// MessageIndex is the position of the message, from 0.
	MessageIndex int `json:"messageIndex"`
	// Message is the message.
	Message Message `json:"message"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Completed is the last event of a successful stream.
type Completed struct {
	// StatusCode is 200, or 206 if a source failed or the time limit was reached.
	StatusCode int `json:"statusCode"`
	// Response is the whole answer.
	Response Response `json:"response"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Failed is the last event of a failed stream.
type Failed struct {
	// Error is the reason of the failure.
	Error ErrorDetail `json:"error"`
	// Activity are the activities up to the failure.
	Activity []Activity `json:"activity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Event is an event of a stream: Started, then ActivityStarted and ActivityCompleted for each activity,
// AnswerCompleted for each message, ReferencesCompleted, and finally Completed or Failed. UnknownEvent stands for any
// other event.
type Event interface{ event() }

// ActivityCompleted is the end of an activity.
type ActivityCompleted struct{ Activity Activity }

// ReferencesCompleted holds all references of the answer.
type ReferencesCompleted struct{ References []Reference }

// UnknownEvent is an event with an unknown name.
type UnknownEvent struct {
	// Name is the name of the event, "message" if the service gave none.
	Name string
	// Data is the content of the event.
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

// DecodeEvent returns the event with this name, and whether it is the last of the stream.
func DecodeEvent(name, data string) (event Event, last bool, err error) {
	b := []byte(data)
	switch name {
	case "retrieval.started":
		event, err = object.Read[Started](types, b)
	case "activity.started":
		event, err = object.Read[ActivityStarted](types, b)
	case "activity.completed":
		var activity Activity
		if activity, err = object.Read[Activity](types, b); err == nil && activity == nil {
			err = errors.New("null instead of an object")
		}
		event = ActivityCompleted{activity}
	case "answer.completed":
		event, err = object.Read[AnswerCompleted](types, b)
	case "references.completed":
		var list []Reference
		list, err = object.Read[[]Reference](types, b)
		event = ReferencesCompleted{list}
	case "response.completed":
		event, err = object.Read[Completed](types, b)
		last = true
	case "error":
		event, err = object.Read[Failed](types, b)
		last = true
	default:
		event = UnknownEvent{name, data}
	}
	if err != nil {
		return nil, last, fmt.Errorf("event %q: %w", name, err)
	}
	return event, last, nil
}
