package search

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/internal/wire"
	"github.com/go-azsearch/azsearch/models"
)

// decodeResults reads the body of a reply to a batch. The results do not refer to body. Every error has
// models.ErrMalformedReply in its chain.
//
// The service writes its replies in one shape. A scanner reads that shape with few allocations: the list, one string
// for all keys, and the messages. Any other body goes to encoding/json, which decides whether it is well formed, and
// then to plainReply, because encoding/json takes the last of several members whose names differ only in case. A fuzz
// test checks that scanner and encoding/json return the same results.
func decodeResults(body []byte) ([]models.IndexingResult, error) {
	body = trimBOM(body)
	if results, ok := scanResults(body); ok {
		return results, nil
	}
	var reply struct {
		Value *[]models.IndexingResult `json:"value"`
	}
	if err := decodeInto(&reply, body); err != nil {
		return nil, err
	}
	if reply.Value == nil {
		return nil, fmt.Errorf("%w: it has no list of results", models.ErrMalformedReply)
	}
	if err := plainReply(body); err != nil {
		return nil, fmt.Errorf("%w: %w", models.ErrMalformedReply, err)
	}
	return *reply.Value, nil
}

// plainReply returns an error if a valid reply to a batch is ambiguous: if it has an error next to its results, or if a
// known member is there twice or its name is written in another case.
func plainReply(body []byte) error {
	members, err := plainMembers(body, "value", "error")
	if err != nil {
		return err
	}
	if failed := members[1]; failed != nil && string(failed) != "null" {
		return errors.New("it has an error next to its results")
	}
	for list, at := members[0], 1; ; at++ { // after the bracket or a comma
		at = wire.Space(list, at)
		end := wire.ValueEnd(list, at)
		if end < 0 { // an empty list
			return nil
		}
		if list[at] == '{' {
			if _, err := plainMembers(list[at:end], "key", "status", "errorMessage", "statusCode"); err != nil {
				return fmt.Errorf("a result: %w", err)
			}
		}
		if at = wire.Space(list, end); list[at] != ',' {
			return nil
		}
	}
}

// plainMembers returns the values of the named members of an object.
func plainMembers(object []byte, names ...string) (values [4][]byte, odd error) {
	err := wire.EachMember(object, func(quoted, value []byte) bool {
		for i, name := range names {
			switch {
			case wire.Quotes(quoted, name):
				if values[i] != nil {
					odd = fmt.Errorf("it has the member %q twice", name)
				}
				values[i] = value
			case foldedName(quoted, name):
				odd = fmt.Errorf("it has the member %q in another case", name)
			}
		}
		return odd == nil
	})
	return values, cmp.Or(odd, err)
}

// foldedName reports whether encoding/json takes a quoted name for name.
func foldedName(quoted []byte, name string) bool {
	if text := quoted[1 : len(quoted)-1]; bytes.IndexByte(text, '\\') < 0 {
		return len(text) >= len(name) && bytes.EqualFold(text, []byte(name))
	}
	text, ok := wire.Unquote(quoted)
	return ok && strings.EqualFold(text, name)
}

// scanResults reads the shape that the service writes. ok is false for any other.
func scanResults(body []byte) ([]models.IndexingResult, bool) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.data = body
	if !s.next('{') {
		return nil, false
	}
	if name, ok := s.plain(); !ok {
		return nil, false
	} else if string(name) == "@odata.context" { // metadata level minimal
		if _, ok := s.colonText(); !ok || !s.next(',') {
			return nil, false
		}
		if name, ok = s.plain(); !ok || string(name) != "value" {
			return nil, false
		}
	} else if string(name) != "value" {
		return nil, false
	}
	if !s.next(':') || !s.next('[') {
		return nil, false
	}
	results := []models.IndexingResult{}
	if !s.next(']') {
		for first := s.at; ; {
			var r models.IndexingResult
			if !s.result(&r) {
				return nil, false
			}
			if len(s.ends) == 0 { // estimate the number of results from the length of the first
				n := min(len(body)/(s.at-first)+1, mostResults)
				results = make([]models.IndexingResult, 0, n)
				s.ends, s.keys = slices.Grow(s.ends, n), slices.Grow(s.keys, n*(len(s.keys)+2))
			}
			results, s.ends = append(results, r), append(s.ends, len(s.keys))
			if s.next(']') {
				break
			}
			if !s.next(',') {
				return nil, false
			}
		}
	}
	if !s.next('}') {
		return nil, false
	}
	s.space()
	if s.at != len(s.data) {
		return nil, false
	}
	keys, start := string(s.keys), 0
	for i, end := range s.ends {
		results[i].Key = keys[start:end]
		start = end
	}
	return results, true
}

// scanner reads JSON of a known shape. Each method skips white space first. It returns false if the input has another
// shape, and may have consumed part of it.
type scanner struct {
	data []byte
	at   int

	keys    []byte // of the results so far, without separators
	ends    []int  // of the keys in keys
	message string // the latest one, reused because many failures in a row have the same message
}

// scanners are pooled to reuse the memory of keys and ends.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// maxPooledKeys is the largest capacity of keys, in bytes, that is kept in the pool. The keys of the largest request
// take a tenth of it, unless they are of the maximum length.
const maxPooledKeys = 4 << 20

func (s *scanner) release() {
	if cap(s.keys) <= maxPooledKeys && cap(s.ends) <= mostResults {
		*s = scanner{keys: s.keys[:0], ends: s.ends[:0]}
		scanners.Put(s)
	}
}

func (s *scanner) space() { s.at = wire.Space(s.data, s.at) }

// next consumes c and returns true, or consumes only white space.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// word consumes w and returns true, or consumes only white space.
func (s *scanner) word(w string) bool {
	s.space()
	if len(s.data)-s.at >= len(w) && string(s.data[s.at:s.at+len(w)]) == w {
		s.at += len(w)
		return true
	}
	return false
}

// plain reads a string of plain ASCII and returns its content.
func (s *scanner) plain() ([]byte, bool) {
	text, escapes, ok := s.quoted()
	return text, ok && !escapes
}

// quoted reads a string and returns its content. escapes reports whether encoding/json must decode it.
func (s *scanner) quoted() (text []byte, escapes, ok bool) {
	if !s.next('"') {
		return nil, false, false
	}
	end, ok := wire.StringEnd(s.data, s.at)
	if !ok {
		return nil, false, false
	}
	text = s.data[s.at : end-1]
	s.at = end
	for _, c := range text {
		if !plainInKey[c] {
			return text, true, true
		}
	}
	return text, false, true
}

// colonText reads a colon and a string and returns the decoded string.
func (s *scanner) colonText() ([]byte, bool) {
	if !s.next(':') {
		return nil, false
	}
	start := s.at
	text, escapes, ok := s.quoted()
	if !ok || !escapes {
		return text, ok
	}
	var unescaped string
	err := json.Unmarshal(s.data[start:s.at], &unescaped)
	return []byte(unescaped), err == nil
}

func (s *scanner) key() bool {
	key, ok := s.colonText()
	s.keys = append(s.keys, key...)
	return ok
}

// result reads one result, each of its members at most once and in any order.
func (s *scanner) result(r *models.IndexingResult) bool {
	if s.success(r) {
		return true
	}
	if !s.next('{') {
		return false
	}
	seen := 0
	for {
		name, ok := s.plain()
		if !ok {
			return false
		}
		var member int
		switch string(name) {
		case "key":
			member = 1
			ok = s.key()
		case "status":
			member = 2
			r.Succeeded, ok = s.boolean()
		case "errorMessage":
			member = 4
			r.ErrorMessage, ok = s.errorMessage()
		case "statusCode":
			member = 8
			r.StatusCode, ok = s.number()
		default:
			return false
		}
		if !ok || seen&member != 0 {
			return false
		}
		seen |= member
		if s.next('}') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}

// mostResults is the largest number of actions of a request, and so of results.
const mostResults = 32000

// The text around the key in the service's result for a document that it has applied.
const (
	successHead = `{"key":"`
	successTail = `","status":true,"errorMessage":null,"statusCode":20`
)

// success reads the shape that nearly all results have. If the input has another, it consumes nothing.
func (s *scanner) success(r *models.IndexingResult) bool {
	rest := s.data[s.at:]
	if len(rest) < len(successHead) || string(rest[:len(successHead)]) != successHead {
		return false
	}
	rest = rest[len(successHead):]
	n := 0
	for n < len(rest) && plainInKey[rest[n]] {
		n++
	}
	tail := rest[n:]
	if len(tail) < len(successTail)+2 || string(tail[:len(successTail)]) != successTail {
		return false
	}
	digit := tail[len(successTail)]
	if digit < '0' || digit > '9' || tail[len(successTail)+1] != '}' {
		return false
	}
	s.keys = append(s.keys, rest[:n]...)
	r.Succeeded, r.StatusCode = true, 200+int(digit-'0')
	s.at += len(successHead) + n + len(successTail) + 2
	return true
}

// plainInKey are the bytes that need no decoding in a JSON string.
var plainInKey = func() (plain [256]bool) {
	for c := ' '; c < 0x80; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func (s *scanner) boolean() (value, ok bool) {
	switch {
	case !s.next(':'):
		return false, false
	case s.word("true"):
		return true, true
	}
	return false, s.word("false")
}

// errorMessage reads a colon and a string or null.
func (s *scanner) errorMessage() (string, bool) {
	at := s.at
	if s.next(':') && s.word("null") {
		return "", true
	}
	s.at = at
	text, ok := s.colonText()
	if string(text) != s.message {
		s.message = string(text)
	}
	return s.message, ok
}

// number reads a colon and a whole number of at most nine digits.
func (s *scanner) number() (int, bool) {
	if !s.next(':') {
		return 0, false
	}
	s.space()
	n, start := 0, s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		n = n*10 + int(s.data[s.at]-'0')
		s.at++
	}
	digits := s.data[start:s.at]
	if len(digits) == 0 || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	return n, true // a fraction or an exponent fails at the next comma
}

// replyBuffers pools the memory into which replies to batches are read.
var replyBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledReply is the largest buffer, in bytes, that is kept, so that one huge reply does not stay in memory. The
// reply to 32 000 actions, the maximum, is about 3 MB.
const maxPooledReply = 4 << 20

// decodeReply reads the reply to a batch to its end and closes it. If keep is set, a copy of the body stays readable
// for a caller that uses policy.WithCaptureResponse.
func decodeReply(resp *http.Response, keep bool) ([]models.IndexingResult, error) {
	buf := replyBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooledReply {
			buf.Reset()
			replyBuffers.Put(buf)
		}
	}()
	if n := resp.ContentLength; n > 0 {
		buf.Grow(int(min(n+bytes.MinRead, maxPooledReply)))
	}
	_, err := buf.ReadFrom(bound(resp.Body, maxBatchReplyBytes))
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it breaks off after %d bytes: %w", models.ErrMalformedReply, buf.Len(), err)
	}
	resp.Body = http.NoBody
	if keep {
		resp.Body = io.NopCloser(bytes.NewReader(bytes.Clone(buf.Bytes())))
	}
	return decodeResults(buf.Bytes())
}
