package deadletter

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// format is the format that this version writes. Format 1 has no stamp and can be read.
const format = 2

// stamp is the format and checksum at the start of a line. The checksum covers the line except itself.
type stamp struct {
	Format int    `json:"format,omitempty"`
	CRC    string `json:"crc,omitempty"`
}

const crcDigits = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampedHead returns the start of a line up to its checksum.
func stampedHead(head []byte) []byte { return fmt.Appendf(head, `"format":%d,"crc":"`, format) }

// stamped appends a line. head is its start, with the opening brace; body is the rest up to the closing brace, with at
// least one member.
func stamped(dst []byte, head string, body []byte) []byte {
	begin := len(dst)
	dst = stampedHead(append(dst, head...))
	sum := crc32.Update(crc32.Checksum(dst[begin:], castagnoli), castagnoli, body)
	return append(fmt.Appendf(dst, `%08x",`, sum), body...)
}

// check compares the stamp with the line raw, which starts with head. A line without a stamp has format 1.
func (s stamp) check(raw []byte, head string) error {
	switch {
	case s == stamp{}:
		return nil
	case s.Format > format:
		return &formatError{s.Format}
	}
	start := stampedHead([]byte(head))
	rest, ok := bytes.CutPrefix(raw, start)
	if !ok || len(rest) < crcDigits+2 || string(rest[:crcDigits]) != s.CRC ||
		fmt.Sprintf("%08x", crc32.Update(crc32.Checksum(start, castagnoli), castagnoli, rest[crcDigits+2:])) != s.CRC {
		return errors.New(`its checksum does not match; if you have changed the line by hand, remove "format" and "crc" from it`)
	}
	return nil
}

// formatError means that a newer version wrote a line.
type formatError struct{ format int }

func (e *formatError) Error() string {
	return fmt.Sprintf("it has format %d, and this version reads %d at most; use the version that has written it, or a newer one", e.format, format)
}
