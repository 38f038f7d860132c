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

// Queryer runs queries, like a *sql.DB. It must not be a *sql.Tx or a *sql.Conn: queries run concurrently, and each
// must read the latest committed data, which one transaction does not. Stale reads could delete documents that exist.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// SQLSource is a Source that reads a table or a query. Do not change its fields while it is used.
type SQLSource struct {
	// DB runs the queries, several at once. It must read the latest committed data, so it is not a lagging replica.
	// Required.
	DB Queryer
	// Table is the table, or a query in parentheses with a name: "(SELECT …) AS hotels". It is inserted into queries
	// unquoted, like the column names. Required.
	Table string
	// Key is the column with the key as the index has it. Required. It must be text that sorts by bytes, in PostgreSQL `id
	// COLLATE "C"`; a key that the driver returns as a number or a time is an error. Cast a column of another type here:
	// CAST(id AS TEXT) in SQLite and PostgreSQL, CAST(id AS CHAR) in MySQL. Create an index on exactly this expression, or
	// each page sorts the table: CREATE INDEX ON hotels (id COLLATE "C"). The primary key is not enough, because its
	// index has the collation of the database, or the order of numbers. Rows with a NULL or empty key are left out.
	Key string
	// Version is the column with the version: an integer, or a time, which counts in milliseconds since 1970 as in
	// search.RowsOptions. Digest is a text column that changes with the document. Both default to none. The source has
	// versions exactly if the index has. A NULL version counts as 0: a document with a version in the index is then Ahead
	// and not repaired, unless the row is Hidden. Use COALESCE(version, 1) to give such rows a version.
	Version, Digest string
	// Hidden is a condition for rows that exist but must not be in the index: "draft OR deleted_at IS NOT NULL". Defaults
	// to none.
	Hidden string
	// Placeholder returns the n-th argument, from 1, in the syntax of the database. Defaults to "?", as in SQLite and
	// MySQL; see Dollar and AtP.
	Placeholder func(n int) string
	// Top makes queries begin with SELECT TOP n, as SQL Server needs. By default they end with LIMIT n.
	Top bool
	// Load implements Source.Read for at most 100 keys. It must return no other keys and no Hidden rows. See Uploads.
	// Required.
	Load func(ctx context.Context, keys []string) ([]models.RawAction, error)
	// PageRows is the number of rows of one query. Defaults to 1000.
	PageRows int

	keys keyTypes
}

// keyTypes records the types that the driver returns for keys. A driver returns all text as strings or all as bytes.
// Both occur only if SQLite stores some keys as blobs, which queries for text do not find.
type keyTypes struct{ text, bytes atomic.Bool }

// mixed records the type of one key and reports whether both types have occurred.
func (k *keyTypes) mixed(isBytes bool) bool {
	if isBytes {
		k.bytes.Store(true)
	} else {
		k.text.Store(true)
	}
	return k.text.Load() && k.bytes.Load()
}

// Dollar is the placeholder of PostgreSQL.
func Dollar(n int) string { return "$" + strconv.Itoa(n) }

// AtP is the placeholder of SQL Server.
func AtP(n int) string { return "@p" + strconv.Itoa(n) }

// check returns all errors of the fields.
func (s *SQLSource) check() error {
	var errs []error
	if nilcheck.IsNil(s.DB) {
		errs = append(errs, errors.New("DB is nil"))
	}
	if s.Table == "" || s.Key == "" {
		errs = append(errs, errors.New("the Table and the Key are required"))
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

// columns returns the selected expressions: key, version, digest, hidden.
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

// Scan implements Source. It makes one query per page; each begins behind the last key of the page before.
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
				if row.Key <= after { // reading again from the same key would loop
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

// between returns the condition for the rows behind after, up to and including through. The argument for through comes
// first. Without a lower bound the condition is "not empty" instead of "greater than empty": in SQLite no number is
// greater than a text, and a key that is a number must be read so that it is refused.
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

// behind returns the argument for after, or nothing without a lower bound.
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

// query returns the rows that a query for columns selects.
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

// notTextStates are the SQLSTATEs of PostgreSQL for a key column that is not text: invalid text for its type (22P02),
// collation of it (42804), comparison with text (42883).
var notTextStates = []string{"22P02", "42804", "42883"}

// explain adds the failed query, and the remedy for a key column that PostgreSQL does not compare with text.
func (s *SQLSource) explain(err error, query string) error {
	err = fmt.Errorf("%w (query %s)", err, query)
	if slices.Contains(notTextStates, sqlkit.State(err)) {
		column := strings.Split(s.Key, " COLLATE ")[0]
		return fmt.Errorf(`the column %s is not text that sorts by bytes. Use Key: "CAST(%s AS TEXT) COLLATE \"C\"": %w`, column, column, err)
	}
	return err
}

// keyOf converts a key returned by a driver. Some drivers return text as bytes, so keyOf accepts bytes; contradiction
// detects keys that only look like text.
func (s *SQLSource) keyOf(value any) (string, error) {
	text, isText := value.(string)
	bytes, isBytes := value.([]byte)
	switch {
	case (isText || isBytes) && s.keys.mixed(isBytes):
		return "", fmt.Errorf("the key %q has another type than others of the column %s: some are text, some bytes, which queries for text do not find. Use Key: \"CAST(%s AS TEXT)\"", value, s.Key, s.Key)
	case isText:
		return text, nil
	case isBytes:
		return string(bytes), nil
	}
	kind := reflect.ValueOf(value).Kind()
	if _, isTime := value.(time.Time); isTime || kind >= reflect.Bool && kind <= reflect.Float64 {
		return "", fmt.Errorf("the key %v is not text (%T): the column %s is not text that sorts by bytes. Use Key: \"CAST(%s AS TEXT)\", in MySQL AS CHAR, in SQL Server AS VARCHAR(36) with a binary collation", value, value, s.Key, s.Key)
	}
	var other sql.NullString // any other type that converts to text
	if err := other.Scan(value); err != nil || !other.Valid {
		return "", errors.Join(fmt.Errorf("the key %v (%T) of the column %s is not text", value, value, s.Key), err)
	}
	return other.String, nil
}

// versionOf converts a version returned by a driver.
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
	return 0, fmt.Errorf("the version %v (%T) is neither a whole number nor a time", value, value)
}

// Read implements Source.
func (s *SQLSource) Read(ctx context.Context, keys []string) ([]models.RawAction, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Load(ctx, keys)
}
