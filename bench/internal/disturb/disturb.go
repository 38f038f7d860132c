// Package disturb lists the faults that comparisons inject into the sink.
package disturb

// Disturbance is a fault that lasts for a moment.
type Disturbance struct {
	Name string
	Sink []string // flags of the command sink
}

// All are the faults of a service with a brief problem.
var All = []Disturbance{
	{"two 429 answers", []string{"-refuse", "429", "-refuse-first", "2"}},
	{"eight 503 answers", []string{"-refuse", "503", "-refuse-first", "8"}},
	{"413 above 500 KB", []string{"-max-body", "500000"}},
	{"5 % of the items 429 once", []string{"-item", "429", "-item-rate", "0.05"}},
	{"5 % of the items 503 once", []string{"-item", "503", "-item-rate", "0.05"}},
}
