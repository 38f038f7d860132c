package compare

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
