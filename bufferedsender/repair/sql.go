package repair

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// Queryer runs queries: a *sql.DB, or what is in its place. It must not be a *sql.Tx or a *sql.Conn: several queries
// run at once, and each must see what was committed last, which in one transaction they do not. What is deleted goes
// by them.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQLSource is a table, or what a query selects, as a source. Its fields must not be changed while it is used.
type SQLSource struct {
	// DB runs the queries, several at once. It must read what was committed last: not a replica that lags.
	DB Queryer
	// Table is the table, or a query in parentheses with a name: "(SELECT …) AS hotels". It is written into queries
	// as it is, and so are the columns.
	Table string
	// Key is the column with the key, as it is in the index. It is text that sorts by bytes: in PostgreSQL `id
	// COLLATE "C"`. A column that is not text is made text here: CAST(id AS TEXT) in SQLite and PostgreSQL, CAST(id
	// AS CHAR) in MySQL; a key that comes as a number is an error. Needs an index of just that, or each page sorts
	// the table: CREATE INDEX ON hotels (id COLLATE "C"), since that of the primary key has the collation of the
	// database, or of numbers. Rows whose key is NULL or empty are left out.
	Key string
	// Version is the column with the version, an integer or a time, which counts in milliseconds since 1970, as the
	// index keeps it; see search.RowsOptions. Digest is a text that differs when the document does. Both default to
	// none. The index is to have the version as well, or neither has. A version that is NULL is none, 0: a document
	// that has one in the index is Ahead of it, and is not repaired, unless the row is Hidden; use
	// COALESCE(version, 1) if rows and documents without one are not meant.
	Version, Digest string
	// Hidden is a condition for rows that exist and are not to be in the index: "draft OR deleted_at IS NOT NULL".
	// Defaults to none.
	Hidden string
	// Placeholder returns how the database writes its n-th argument, from 1. Defaults to "?" as in SQLite and MySQL;
	// see Dollar and AtP.
	Placeholder func(n int) string
	// Top says that a query begins with SELECT TOP n, as in SQL Server; otherwise it ends with LIMIT n.
	Top bool
	// Load is Source.Read: it is asked for at most 100 keys, and must not return others, nor rows that are Hidden.
	// See Uploads.
	Load func(ctx context.Context, keys []string) ([]models.RawAction, error)
	// PageRows is how many rows a query returns. Defaults to 1000.
	PageRows int

	keys keyTypes
}

// keyTypes is what the keys of a column have come as. A driver returns text as strings, or as bytes; both are there
// only if SQLite has kept some keys as blobs, which no query for text finds.
type keyTypes struct{ text, bytes atomic.Bool }

// mixed notes one more.
func (k *keyTypes) mixed(isBytes bool) bool {
	if isBytes {
		k.bytes.Store(true)
	} else {
		k.text.Store(true)
	}
	return k.text.Load() && k.bytes.Load()
}

// Dollar is the placeholder of PostgreSQL, and AtP that of SQL Server.
func Dollar(n int) string { return "$" + strconv.Itoa(n) }

// AtP is the placeholder of SQL Server.
func AtP(n int) string { return "@p" + strconv.Itoa(n) }

// check names all problems of the fields.
func (s *SQLSource) check() error {
	var errs []error
	if nilcheck.IsNil(s.DB) {
		errs = append(errs, errors.New("DB is nil"))
	}
	if s.Table == "" || s.Key == "" {
		errs = append(errs, errors.New("a Table and a Key are needed"))
	}
	if s.Load == nil {
		errs = append(errs, errors.New("Load is nil: use Uploads with a function that loads documents"))
	}
	if s.PageRows < 0 {
		errs = append(errs, fmt.Errorf("PageRows is %d: use a positive number, or 0 for the default of %d", s.PageRows, chunkRows))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the SQLSource: %w", err)
	}
	return nil
}

// HasVersions reports whether the rows have versions.
func (s *SQLSource) HasVersions() bool { return s != nil && s.Version != "" }

// columns are what is selected: key, version, digest, hidden.
func (s *SQLSource) columns() string {
	or := func(column, standard string) string {
		if column == "" {
			return standard
		}
		return column
	}
	hidden := "0"
	if s.Hidden != "" {
		hidden = "CASE WHEN " + s.Hidden + " THEN 1 ELSE 0 END"
	}
	return strings.Join([]string{s.Key, or(s.Version, "0"), or(s.Digest, "''"), hidden}, ", ")
}

func (s *SQLSource) argument(n int) string {
	if s.Placeholder == nil {
		return "?"
	}
	return s.Placeholder(n)
}

// Scan implements Source: one query a page, each of which begins behind the last key.
func (s *SQLSource) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		if err := s.check(); err != nil {
			yield(models.Row{}, err)
			return
		}
		n := s.PageRows
		if n == 0 {
			n = chunkRows
		}
		var end []any
		query, limit := "SELECT ", " LIMIT "+strconv.Itoa(n)
		if s.Top {
			query, limit = "SELECT TOP "+strconv.Itoa(n)+" ", ""
		}
		query += s.columns() + " FROM " + s.Table + " WHERE "
		if through != "" {
			end = []any{through}
		}
		for {
			rows, err := s.query(ctx, query+s.between(after, through)+" ORDER BY "+s.Key+limit, append(end[:len(end):len(end)], behind(after)...)...)
			if err != nil {
				yield(models.Row{}, err)
				return
			}
			for _, row := range rows {
				if row.Key <= after { // it would be read for ever
					yield(models.Row{}, &OrderError{Side: "source", After: after, Key: row.Key})
					return
				}
				if after = row.Key; !yield(row, nil) {
					return
				}
			}
			if len(rows) < n {
				return
			}
		}
	}
}

// between is the condition for the rows behind a key, up to and with another one, whose argument comes first. From
// the beginning it does not ask for what is more than ”, which no number is in SQLite: a key that is not text is read
// there, and refused.
func (s *SQLSource) between(after, through string) string {
	var conditions []string
	if through != "" {
		conditions = append(conditions, s.Key+" <= "+s.argument(1))
	}
	if after == "" {
		conditions = append(conditions, s.Key+" <> ''")
	} else {
		conditions = append(conditions, s.Key+" > "+s.argument(len(conditions)+1))
	}
	return strings.Join(conditions, " AND ")
}

// behind is the argument for the key that rows are to be behind, if there is one.
func behind(after string) []any {
	if after == "" {
		return nil
	}
	return []any{after}
}

// Lookup implements Source.
func (s *SQLSource) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var all []models.Row
	for part := range slices.Chunk(keys, keysAtOnce) {
		marks, args := make([]string, len(part)), make([]any, len(part))
		for i, key := range part {
			marks[i], args[i] = s.argument(i+1), key
		}
		rows, err := s.query(ctx, "SELECT "+s.columns()+" FROM "+s.Table+" WHERE "+s.Key+" IN ("+strings.Join(marks, ", ")+")", args...)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// query returns the rows of a query for columns.
func (s *SQLSource) query(ctx context.Context, query string, args ...any) (all []models.Row, err error) {
	rows, err := s.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.explain(err, query)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row models.Row
		var key, version any
		var digest sql.NullString
		if err := rows.Scan(&key, &version, &digest, &row.Hidden); err != nil {
			return nil, fmt.Errorf("%w (query %s)", err, query)
		}
		if row.Key, err = s.keyOf(key); err != nil {
			return nil, err
		}
		if row.Version, err = versionOf(version); err != nil {
			row.Problem = fmt.Sprintf("the column %s: %v", s.Version, err)
		}
		row.Digest = digest.String
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain(err, query)
	}
	return all, nil
}

// notTextStates are those of PostgreSQL about a key column of another type: an invalid text of it (22P02), a collation
// of it (42804), and a comparison with text (42883).
var notTextStates = []string{"22P02", "42804", "42883"}

// explain says which query has failed, and what to do about a column that PostgreSQL does not compare with text.
func (s *SQLSource) explain(err error, query string) error {
	err = fmt.Errorf("%w (query %s)", err, query)
	if slices.Contains(notTextStates, sqlkit.State(err)) {
		column := strings.Split(s.Key, " COLLATE ")[0]
		return fmt.Errorf(`the column %s is not text that sorts by bytes. Use Key: "CAST(%s AS TEXT) COLLATE \"C\"": %w`, column, column, err)
	}
	return err
}

// keyOf reads a key that a driver has returned. Some return text as bytes, so whether bytes are text only shows when
// the key is looked up: see contradiction.
func (s *SQLSource) keyOf(value any) (string, error) {
	text, isText := value.(string)
	bytes, isBytes := value.([]byte)
	switch {
	case (isText || isBytes) && s.keys.mixed(isBytes):
		return "", fmt.Errorf("the key %q is of another type than others of the column %s: some are text and some are bytes, which no query for text finds. Use Key: \"CAST(%s AS TEXT)\"", value, s.Key, s.Key)
	case isText:
		return text, nil
	case isBytes:
		return string(bytes), nil
	}
	kind := reflect.ValueOf(value).Kind()
	if _, isTime := value.(time.Time); isTime || kind >= reflect.Bool && kind <= reflect.Float64 {
		return "", fmt.Errorf("the key %v is no text (%T): the column %s is not text that sorts by bytes. Use Key: \"CAST(%s AS TEXT)\", in MySQL AS CHAR, in SQL Server AS VARCHAR(36) with a binary collation", value, value, s.Key, s.Key)
	}
	var other sql.NullString // whatever else it can be made of
	if err := other.Scan(value); err != nil || !other.Valid {
		return "", errors.Join(fmt.Errorf("%v (%T) of the column %s is to be a key, and is no text", value, value, s.Key), err)
	}
	return other.String, nil
}

// versionOf reads a version that a driver has returned.
func versionOf(value any) (int64, error) {
	switch v := value.(type) {
	case nil:
		return 0, nil
	case int64:
		return v, nil
	case int32:
		return int64(v), nil
	case uint64: // MySQL's
		if v <= math.MaxInt64 {
			return int64(v), nil
		}
	case time.Time:
		return v.UnixMilli(), nil
	case []byte:
		return versionOf(string(v))
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("%v (%T) is to be a version, and is neither a whole number nor a time", value, value)
}

// Read implements Source.
func (s *SQLSource) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Load(ctx, keys)
}
