package searchtest

// indexDefinition is the definition of an index as a request wrote it, with the
// service's defaults filled in.
type indexDefinition struct {
	name   string
	fields []*fieldDefinition
}

// fieldDefinition is one field of an indexDefinition.
type fieldDefinition struct{}

func (d *fieldDefinition) compile() *field { return &field{} }

func parseDefinition(body []byte, apiVersion string) (*indexDefinition, *serviceError) {
	return &indexDefinition{}, nil
}

func (d *indexDefinition) validate() *serviceError { return nil }

func (d *indexDefinition) appendEcho(dst []byte) []byte { return dst }
