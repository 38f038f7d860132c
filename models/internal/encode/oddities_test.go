package encode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// oddity is a rule of encoding/json that a reimplementation may miss.
type oddity struct {
	name  string
	value any
	want  string // what encoding/json writes; "" if it refuses
}

// checkOddities compares each value, and reports a row that is wrong about encoding/json.
func checkOddities(t *testing.T, rows []oddity) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			out, err := reference(row.value)
			if row.want == "" {
				require.Error(t, err, "the row is wrong: encoding/json writes %s", out)
				require.Equal(t, refused, check(t, row.value))
				return
			}
			require.NoError(t, err, "the row is wrong")
			require.Equal(t, row.want, string(out), "the row is wrong")
			checkWritten(t, row.value)
		})
	}
}

func ptr[T any](v T) *T { return &v }
