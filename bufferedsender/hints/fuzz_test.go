package hints

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// FuzzOpen opens any file. Open reads or refuses it; a rewrite does not change the content, and an addition loses
// none of it.
func FuzzOpen(f *testing.F) {
	whole, ends := fileOf([]part{{name: "hotels", keys: [2][]string{{"a", "b"}}}, {name: "cities", all: true}},
		adds("hotels", "c"), one(opDone, "hotels", "a"), one(opForget, "cities", ""), one(opEverything, "hotels", ""), one(opCompared, "hotels", ""))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:ends[2]-1]))
	f.Add([]byte(whole[:ends[0]] + whole[ends[1]:]))
	f.Add([]byte(format.Magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) { openAny(t, content) })
}

// FuzzOperations has any operations in frames with valid checksums.
func FuzzOperations(f *testing.F) {
	f.Add([]byte("n\x06hotelsa\x01aa\x01b"), []byte("n\x06hotelsd\x01afn\x00ec"))
	f.Add([]byte("s"), []byte("a\x01a"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var b bytes.Buffer
		b.WriteString(format.Magic)
		for i, payload := range [][]byte{first, {byte(opSealed)}, second, first} {
			frame := append(make([]byte, journal.HeaderSize), payload...)
			journal.Seal(frame, uint32(i+1))
			b.Write(frame)
		}
		openAny(t, b.Bytes())
	})
}

func openAny(t *testing.T, file []byte) {
	d := disktest.New()
	d.Put(fileName, string(file))
	s, again := new(Set), new(Set)
	if err := s.open(d); err != nil {
		var damage *journal.Damage
		if !errors.Is(err, ErrDamaged) || !errors.As(err, &damage) || damage.Offset < 0 || damage.Offset > int64(len(file)) {
			t.Fatalf("unexpected error %v", err)
		}
		return
	}
	if err := s.Add("added", "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.step(); err != nil {
		t.Fatal(err)
	}
	if err := again.open(d); err != nil {
		t.Fatalf("the written file cannot be read: %v", err)
	}
	if a, b := content(s), content(again); !reflect.DeepEqual(a, b) {
		t.Fatalf("%v was written, %v is read", a, b)
	}
	for _, name := range indexes(s) {
		if a, b := drain(s, name), drain(again, name); !reflect.DeepEqual(a, b) {
			t.Fatalf("of %q %v was written, and the order is %v", name, a, b)
		}
	}
	if len(indexes(s)) > 0 || s.bytes != 0 {
		t.Fatalf("%+v is left, %d bytes", s.Stats(), s.bytes)
	}
}
