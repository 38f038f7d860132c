package deadletter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// record is a dead letter as stored in a file.
type record struct {
	// N identifies the dead letter within its file. It begins at 1 and does not change when the file is rewritten.
	N int64 `json:"n"`
	stamp
	// Newer is the version of the index if that is newer, so that the dead letter is outdated; 0 if that is not known.
	Newer int64 `json:"newer,omitempty"`
	Letter
}

// parseRecord parses a line. An error means that it is not a dead letter.
func parseRecord(raw []byte) (record, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return record{}, err
	}
	if err := r.check(bytes.TrimSuffix(raw, []byte("\n")), recordHead(r.N)); err != nil {
		return record{}, err
	}
	switch {
	case r.N < 1:
		return record{}, errors.New("it has no number")
	case !r.Action.Valid():
		return record{}, fmt.Errorf("there is no action %q", r.Action)
	}
	if string(r.Document) == "null" {
		r.Document = nil
	}
	return r, nil
}

// encodeLetter returns the JSON of a dead letter, with a line feed and without a number: see appendRecord. newer is
// that of the record.
func encodeLetter(l Letter, newer int64) ([]byte, error) {
	if !l.Action.Valid() {
		return nil, fmt.Errorf("there is no action %q", l.Action)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		Newer int64 `json:"newer,omitempty"`
		Letter
	}{newer, l}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// appendRecord appends the line of an encoded dead letter. It adds the number separately, because the number is only
// known under the lock, and encoding does not need the lock.
func appendRecord(dst []byte, n int64, encoded []byte) []byte {
	return append(stamped(dst, recordHead(n), encoded[1:len(encoded)-1]), '\n')
}

func recordHead(n int64) string { return `{"n":` + strconv.FormatInt(n, 10) + "," }

// numberBytes bounds the bytes that appendRecord adds.
const numberBytes = len(`"n":9223372036854775807,"format":9223372036854775807,"crc":"00000000",`)

// redact removes what contains or may quote the document.
func redact(l Letter) Letter {
	l.Document, l.Message, l.Error = nil, "", ""
	return l
}
