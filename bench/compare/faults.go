package compare

// fault is something that goes wrong.
type fault struct {
	Name string   `json:"name"`
	sink []string // its flags
}

// faults are short disturbances that a service with a moment of trouble makes.
var faults = []fault{
	{"two 429 answers", []string{"-refuse", "429", "-refuse-first", "2"}},
	{"eight 503 answers", []string{"-refuse", "503", "-refuse-first", "8"}},
	{"413 above 500 KB", []string{"-max-body", "500000"}},
	{"5 % of the items 429 once", []string{"-item", "429", "-item-rate", "0.05"}},
	{"5 % of the items 503 once", []string{"-item", "503", "-item-rate", "0.05"}},
}

// faultDocuments is how many documents are sent at the most while something
// goes wrong: what is lost is known soon.
const faultDocuments = 20_000

// faultRow is what a contestant lost.
type faultRow struct {
	contestant contestant
	Name       string       `json:"contestant"`
	Cells      []*faultCell `json:"faults"`
}

// faultCell is one contestant with one fault.
type faultCell struct {
	Fault   string   `json:"fault"`
	Outcome *outcome `json:"outcome"` // nil: it gave no figures
	Problem string   `json:"problem,omitempty"`
}

// unreported counts the documents that were lost and of which the contestant
// did not say so.
func (f *faultRow) unreported() int64 {
	var n int64
	for _, c := range f.Cells {
		if c.Outcome != nil {
			n += max(0, c.Outcome.lost()-max(0, c.Outcome.Reported))
		}
	}
	return n
}
