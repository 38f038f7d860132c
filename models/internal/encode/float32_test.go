package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// TestFloat32BitPatterns tries the bit patterns of a float32: two million by default, and with
//
//	AZSEARCH_ALL_FLOAT32=1 go test -run TestFloat32BitPatterns -v -timeout 3h ./models/internal/encode
//
// all 2^32, on GOMAXPROCS processors, in about six minutes of two.
func TestFloat32BitPatterns(t *testing.T) {
	const all = 1 << 32
	stride := uint64(2053) // a prime
	if os.Getenv("AZSEARCH_ALL_FLOAT32") != "" {
		stride = 1
	}
	const perBatch = 4096 // patterns compared at once
	batches := (all/stride + perBatch) / perBatch
	var next, compared atomic.Uint64
	var found sync.Map
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			list := make([]float32, 0, perBatch)
			var out []byte
			var want bytes.Buffer
			for {
				batch := next.Add(1) - 1
				if batch >= batches {
					return
				}
				list = list[:0]
				for i := batch * perBatch * stride; i < min(all, (batch+1)*perBatch*stride); i += stride {
					if f := math.Float32frombits(uint32(i)); f-f == 0 { // neither NaN nor infinite
						list = append(list, f)
					}
				}
				compared.Add(uint64(len(list)))
				if err := compareFloats(&list, &out, &want); err != nil {
					found.Store(batch, err)
					return
				}
			}
		})
	}
	wg.Wait()
	found.Range(func(_, err any) bool {
		t.Error(err)
		return true
	})
	t.Logf("%d patterns compared", compared.Load())
	require.Greater(t, compared.Load(), all/stride*99/100, "all but the NaNs, which are one in 128")
}

// compareFloats compares the encoding of a list. If it differs, compareFloats finds the first such number.
func compareFloats(list *[]float32, out *[]byte, want *bytes.Buffer) error {
	want.Reset()
	if err := json.NewEncoder(want).Encode(list); err != nil {
		return err
	}
	got, ok := encode.Append((*out)[:0], list)
	*out = got
	if ok && bytes.Equal(got, bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
		return nil
	}
	for _, f := range *list {
		result, err := compare(f)
		if err != nil || result != same {
			return fmt.Errorf("%#08x, %s: verdict %d, %w", math.Float32bits(f), strconv.FormatFloat(float64(f), 'g', -1, 32), result, err)
		}
	}
	return fmt.Errorf("a difference in a list that begins with %v, but not in its numbers; written: %v", (*list)[0], ok)
}
