package servers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

// SQL runs a query in a database, given by name or URL, and returns the output: a line for each row, "|" between
// columns. An error of the server fails the test.
func (r *PostgresServer) SQL(t testing.TB, database, query string) string {
	t.Helper()
	out, err := r.query(database, query)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ping returns nil if the server accepts a connection and a startup message.
func (r *PostgresServer) ping() error {
	_, err := r.talk("postgres", time.Second, "")
	return err
}

func (r *PostgresServer) query(database, query string) (string, error) {
	if u, err := url.Parse(database); err == nil && u.Scheme != "" {
		database = strings.TrimPrefix(u.Path, "/")
	}
	out, err := r.talk(database, patience, query)
	if err != nil {
		return "", fmt.Errorf("%q in %s: %w", query, database, err)
	}
	return out, nil
}

// talk connects as user postgres, sends the query by the simple protocol, and returns its rows; without a query it only
// connects. Each database of a test costs three queries, and starting psql costs as much CPU time as all of them.
func (r *PostgresServer) talk(database string, within time.Duration, query string) (string, error) {
	c, err := net.DialTimeout("tcp", r.Addr(), within)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(within))
	hello := "\x00\x03\x00\x00user\x00postgres\x00database\x00" + database + "\x00\x00"
	messages := binary.BigEndian.AppendUint32(nil, uint32(4+len(hello)))
	messages = append(messages, hello...)
	if query != "" {
		messages = binary.BigEndian.AppendUint32(append(messages, 'Q'), uint32(5+len(query)))
		messages = append(append(messages, query...), 0)
	}
	if _, err := c.Write(messages); err != nil {
		return "", err
	}
	answers := bufio.NewReader(c)
	if _, err := answer(answers); err != nil || query == "" {
		return "", errors.Join(err, goodbye(c))
	}
	out, err := answer(answers)
	return out, errors.Join(err, goodbye(c))
}

func goodbye(c net.Conn) error {
	_, err := c.Write([]byte("X\x00\x00\x00\x04"))
	return err
}

// answer reads messages until the server is ready for the next query.
func answer(from io.Reader) (string, error) {
	var rows []string
	var refused error
	for {
		var head struct {
			Kind byte
			Size uint32
		}
		if err := binary.Read(from, binary.BigEndian, &head); err != nil {
			return "", errors.Join(refused, err)
		}
		body := make([]byte, max(head.Size, 4)-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return "", err
		}
		switch head.Kind {
		case 'D':
			rows = append(rows, row(body))
		case 'E':
			refused = errors.New(strings.ReplaceAll(string(body), "\x00", " "))
		case 'Z':
			return strings.Join(rows, "\n"), refused
		}
	}
}

// row returns the columns of a DataRow message.
func row(body []byte) string {
	columns := make([]string, binary.BigEndian.Uint16(body))
	body = body[2:]
	for i := range columns {
		n := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if n > 0 { // -1 is NULL
			columns[i], body = string(body[:n]), body[n:]
		}
	}
	return strings.Join(columns, "|")
}
