package bufferedsender

import (
	"strconv"
	"testing"
)

// BenchmarkBody measures reading the body of a full request in pieces of the size that a transport uses.
func BenchmarkBody(b *testing.B) {
	const actions, size = 1000, 650
	full := &batch{Bytes: envelopeBytes + actions*size + (actions-1)*len(bodyComma)}
	for i := range actions {
		full.Items = append(full.Items, item{Key: strconv.Itoa(i), Body: make([]byte, size)})
	}
	for _, piece := range []int{4 << 10, 32 << 10} {
		b.Run(strconv.Itoa(piece>>10)+" KiB at once", func(b *testing.B) {
			buffer := make([]byte, piece)
			b.ReportAllocs()
			b.SetBytes(int64(full.Bytes))
			for b.Loop() {
				read, body := 0, newBody(full)
				for {
					n, err := body.Read(buffer)
					read += n
					if err != nil { // the end of the body, or too early: see below
						break
					}
				}
				body.retire()
				if read != full.Bytes {
					b.Fatal(read)
				}
			}
		})
	}
}
