package compare

// faultDocuments limits the documents of a run with a fault: losses show with few documents.
const faultDocuments = 20_000

// faultRow has the losses of a contestant.
type faultRow struct {
	contestant contestant
	Name       string       `json:"contestant"`
	Cells      []*faultCell `json:"faults"`
}

// faultCell is the run of one contestant with one fault.
type faultCell struct {
	Fault   string   `json:"fault"`
	Outcome *outcome `json:"outcome"` // nil: no figures
	Problem string   `json:"problem,omitempty"`
}

// unreported counts the lost documents that the contestant did not report.
func (f *faultRow) unreported() int64 {
	var n int64
	for _, c := range f.Cells {
		if c.Outcome != nil {
			n += max(0, c.Outcome.lost()-max(0, c.Outcome.Reported))
		}
	}
	return n
}
