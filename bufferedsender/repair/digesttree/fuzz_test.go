package digesttree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// FuzzOpen opens any bytes as a base and two logs, and continues with the result.
func FuzzOpen(f *testing.F) {
	files, _ := history(f)
	f.Add([]byte(files[baseName(2)]), []byte(files[logName(2)]), []byte(files[logName(3)]))
	f.Add([]byte{}, []byte(files[logName(2)]), []byte{})
	f.Add([]byte(baseMagic), []byte(format.Magic), []byte(format.Magic))
	f.Fuzz(func(t *testing.T, base, first, second []byte) {
		d := disktest.New()
		d.Put(baseName(2), string(base))
		d.Put(logName(2), string(first))
		d.Put(logName(3), string(second))
		options, _ := (*Options)(nil).withDefaults()
		tree := &Tree{options: options, most: maxDifferences}
		require.NoError(t, tree.open(d))
		if tree.shape.bits > 10 {
			return // slow
		}
		_, err := tree.Compare(t.Context(), tableOf(versions(3)), 0)
		_ = err // a forged checksum can hide a malformed segment until it is read
		require.NoError(t, tree.flush())
		require.NoError(t, tree.fold())
		rebuildAll(t, tree, tableOf(versions(3)))
		require.Equal(t, 0, tree.Stats().Unknown)
		end(t, tree)
	})
}

// FuzzRecords reads any bytes as records.
func FuzzRecords(f *testing.F) {
	f.Add(appendKey(appendKey(nil, "a", 1, false), "b", 0, true))
	f.Add(appendBuilt(appendFirst(nil, kindBegin, 14, 1, 2), allSegments, 3))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if !wellFormed(payload) {
			return
		}
		var again []byte
		for rest := payload; len(rest) > 0; {
			r, size := next(rest)
			rest = rest[size:]
			switch r.kind {
			case kindSet:
				again = appendKey(again, string(r.key), r.version, false)
			case kindDeleted:
				again = appendKey(again, string(r.key), 0, true)
			case kindBuilt:
				again = appendBuilt(again, r.segment, r.time)
			case kindBegin, kindContinues:
				again = appendFirst(again, r.kind, int(r.bits), r.log, r.frames)
			case kindClosed:
				again = append(again, byte(kindClosed))
			}
		}
		require.Equal(t, string(payload), string(again))
	})
}
