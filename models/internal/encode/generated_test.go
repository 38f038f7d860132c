package encode_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// compareGenerated generates a type and a value, and compares the encoding of the value (not addressable), of a
// pointer to it (addressable), and sometimes of values that contain it.
func compareGenerated(c *choices) (verdicts map[verdict]int, t reflect.Type, err error) {
	g := newGenerator(c)
	t = g.anyType(4)
	p := reflect.New(t)
	g.fill(p.Elem(), 6)
	value, pointer := p.Elem().Interface(), p.Interface()
	forms := []any{value, pointer}
	switch g.n(8) {
	case 1:
		forms = append(forms, map[string]any{"v": value, "p": pointer})
	case 2:
		forms = append(forms, []any{value, pointer, &pointer})
	}
	verdicts = map[verdict]int{}
	for _, form := range forms {
		v, err := compare(form)
		if err == nil && v == declined && !mayDecline(reflect.ValueOf(form)) {
			err = errors.New("left to encoding/json")
		}
		if err != nil {
			return nil, t, fmt.Errorf("given a %.300T: %w", form, err)
		}
		verdicts[v]++
	}
	return verdicts, t, nil
}

// FuzzTypes generates a type and a value from the bytes. Go keeps every type of every input forever, about a gigabyte
// in a minute, and minimizing inputs creates many more:
//
//	go test -run '^$' -fuzz FuzzTypes -fuzztime 60s -fuzzminimizetime 1x ./models/internal/encode
func FuzzTypes(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, typ, err := compareGenerated(&choices{data})
		require.NoErrorf(t, err, "type %.1000v", typ)
	})
}

// TestGeneratedTypes is FuzzTypes with fixed inputs. AZSEARCH_ENCODE_SEEDS sets their number.
func TestGeneratedTypes(t *testing.T) {
	seeds := testkit.Cases(500, 3000, 3000)
	if s := os.Getenv("AZSEARCH_ENCODE_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		seeds = n
	}
	total := map[verdict]int{}
	broken := map[reflect.Type]bool{}
	for seed := range uint64(seeds) {
		verdicts, typ, err := compareGenerated(randomChoices(seed))
		if err != nil && !broken[typ] {
			broken[typ] = true
			assert.NoErrorf(t, err, "seed %d, type %.1000v", seed, typ)
		}
		if len(broken) == 5 {
			t.FailNow()
		}
		for v, n := range verdicts {
			total[v] += n
		}
	}
	t.Logf("%d written, %d refused by both, %d left to encoding/json", total[same], total[refused], total[declined])
	require.Greater(t, total[same], seeds, "the generator makes too few values that can be written")
	require.Greater(t, total[refused], seeds/20, "the generator makes too few values that cannot be written")
}
