// Package faults reads and checks scripts of faults, and applies them to requests.
package faults

import "time"

// Script is a script of faults. Its types have the fields of those in package searchtest, with
// the same meaning.
type Script struct {
	Seed     uint64
	Rules    []Rule
	Capacity *Capacity
}

// Rule is one rule of a script.
type Rule struct {
	Operation, Method, Path, Index string
	OverBytes                      int64
	OverActions                    int

	From, For           time.Duration
	After, Every, Count int
	Probability         float64

	Delay, ReplyDelay            time.Duration
	Status                       int
	Commit                       bool
	Code, Message                string
	RetryAfter                   time.Duration
	RetryAfterForm               string
	Cut, Body, Results, Semantic string
	Documents                    []Document
}

// Document refuses single documents of a batch.
type Document struct {
	Keys       []string
	Ratio      float64
	Nth, Times int
	Status     int
	Message    string
}

// Capacity is the rate at which a service accepts documents.
type Capacity struct {
	DocumentsPerSecond, BytesPerSecond float64
	Burst                              time.Duration
	Status                             int
	RetryAfter                         time.Duration
	RetryAfterForm                     string
}

// The operations with special effects.
const (
	ofBatches  = "indexDocuments"
	ofSearches = "search"
)

// The names of forms and effects that this package uses.
const (
	retryAfterDate    = "date"
	retryAfterMS      = "retry-after-ms"
	retryAfterXMS     = "x-ms-retry-after-ms"
	cutBeforeCommit   = "beforeCommit"
	bodyMalformed     = "malformed"
	resultsMissing    = "missing"
	resultsExtra      = "extra"
	resultsRepeated   = "repeated"
	resultsShuffled   = "shuffled"
	resultsUnknownKey = "unknownKey"
)

// The allowed names of each field.
var (
	retryAfterForms = []string{"seconds", retryAfterDate, retryAfterMS, retryAfterXMS}
	cuts            = []string{cutBeforeCommit, "afterCommit"}
	bodyFaults      = []string{"truncated", bodyMalformed, "empty"}
	damages         = []string{resultsMissing, resultsExtra, resultsRepeated, resultsShuffled, resultsUnknownKey}
	failures        = []string{"capacityOverloaded", "maxWaitExceeded", "transient", "transientAnswers"}
)
