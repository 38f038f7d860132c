package parquetrows

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type address struct {
	City  string  `parquet:"city" json:"city"`
	Floor *int32  `parquet:"floor,optional" json:"floor"`
	Tags  []int64 `parquet:"tags,list" json:"tags"`
}

type hotel struct {
	ID      string            `parquet:"id" json:"id"`
	Name    *string           `parquet:"name,optional" json:"name"`
	Stars   int32             `parquet:"stars" json:"stars"`
	Rating  float64           `parquet:"rating" json:"rating"`
	Open    bool              `parquet:"open" json:"open"`
	When    time.Time         `parquet:"when,timestamp" json:"when"`
	Tags    []string          `parquet:"tags,list" json:"tags"`
	Raw     []float64         `parquet:"raw" json:"raw"`
	Address *address          `parquet:"address,optional" json:"address"`
	Rooms   []address         `parquet:"rooms,list" json:"rooms"`
	Labels  map[string]string `parquet:"labels" json:"labels"`
	Price   int64             `parquet:"price,decimal(2:18)" json:"-"`
}

func hotels(n int) (all []hotel) {
	when := time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC)
	for i := range n {
		h := hotel{ID: strconv.Itoa(i), Stars: int32(i), Rating: float64(i) / 4, Open: i%2 == 0, When: when.Add(time.Duration(i) * time.Second), Price: int64(i) - 5,
			Tags: []string{}, Raw: []float64{}, Rooms: []address{}, Labels: map[string]string{}}
		switch i % 3 {
		case 1:
			h.Name, h.Tags, h.Raw = new("a \"quoted\"\n\tname\\"), []string{"x", "ü"}, []float64{1, 2.5}
			h.Address = &address{City: "Paris", Floor: new(int32(3)), Tags: []int64{1}}
		case 2:
			h.Address = &address{Tags: []int64{}}
			h.Rooms = []address{{City: "a", Tags: []int64{1, 2}}, {City: "b", Floor: new(int32(1)), Tags: []int64{}}}
			h.Labels = map[string]string{"k": "v"}
		}
		all = append(all, h)
	}
	return all
}

func file(t *testing.T, all []hotel) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[hotel](&b, parquet.MaxRowsPerRowGroup(100), parquet.PageBufferSize(1000), parquet.Compression(&parquet.Zstd))
	_, err := w.Write(all)
	require.NoError(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

func read(t *testing.T, r *Rows) (lines []string) {
	t.Helper()
	for {
		data, ends, err := r.Append(nil, nil, 1000)
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		from := 0
		for _, end := range ends {
			lines = append(lines, string(data[from:end]))
			from = end
		}
	}
}

func TestRowsAreJSONLines(t *testing.T) {
	all := hotels(250)
	content := file(t, all)
	r, err := Open(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	lines := read(t, r)
	require.Len(t, lines, len(all))
	for i, line := range lines {
		want, err := json.Marshal(all[i])
		require.NoError(t, err)
		var got, wanted map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &got), line)
		require.NoError(t, json.Unmarshal(want, &wanted))
		delete(got, "price")
		assert.Equal(t, wanted, got)
	}
	assert.Contains(t, lines[0], `"price":-0.05`)
	assert.Contains(t, lines[249], `"price":2.44`)
	assert.Equal(t, int64(1000), r.Share(1000))
	assert.NoError(t, r.Close())

	for _, row := range []int64{1, 100, 142, 249, 250} { // within a row group, at its start, at its end
		r, err := Open(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		require.NoError(t, r.SkipTo(row))
		assert.Equal(t, lines[row:], append([]string{}, read(t, r)...), row)
		assert.NoError(t, r.Close())
	}
}

// A corrupt file is an error, neither a panic nor an endless loop.
func FuzzCorruptFile(f *testing.F) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[address](&b)
	_, err := w.Write([]address{{City: "a", Tags: []int64{1}}, {City: "b"}})
	require.NoError(f, errors.Join(err, w.Close()))
	for _, at := range []int{4, b.Len() / 2, b.Len() - 9} {
		f.Add(at, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, at int, with byte) {
		content := bytes.Clone(b.Bytes())
		content[(at%len(content)+len(content))%len(content)] ^= with
		r, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		_ = r.SkipTo(1)
		for range 20 { // a row may take almost no bytes, and a file may claim billions
			if _, _, err := r.Append(nil, nil, 1<<20); err != nil {
				break
			}
		}
		_ = r.Close()
	})
}

// written returns a file of one group of rows for each element, with checksums, and its rows.
func written[T any](t *testing.T, schema *parquet.Schema, groups ...[]T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, schema)
	for _, rows := range groups {
		_, err := w.Write(rows)
		require.NoError(t, errors.Join(err, w.Flush()))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func lines(t *testing.T, content []byte) []string {
	t.Helper()
	r, err := Open(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	return read(t, r)
}

// What a column declares decides how its bytes are read. Text that is not UTF-8 stays so for the load to reject, and
// what is not JSON cannot become members of the row.
func TestValuesThatAreNotOfTheirTypeStayDistinct(t *testing.T) {
	type row struct {
		S []byte  `parquet:"s"`
		J []byte  `parquet:"j"`
		B []byte  `parquet:"b"`
		H [2]byte `parquet:"h"`
	}
	half := parquet.Leaf(float16Type{parquet.FixedLenByteArrayType(2)})
	schema := parquet.NewSchema("row", parquet.Group{"s": parquet.String(), "j": parquet.JSON(), "b": parquet.Leaf(parquet.ByteArrayType), "h": half})
	content := written(t, schema, []row{
		{S: []byte("caf\xe9"), J: []byte(`1,"s":"x"`), B: []byte("caf\xe9"), H: [2]byte{0, 0x3e}},
		{S: []byte("é"), J: []byte(`{"a":[1]}`), B: []byte("é"), H: [2]byte{1, 0x80}},
		{S: []byte(""), J: []byte(""), B: []byte(""), H: [2]byte{0, 0xfc}},
	})
	assert.Equal(t, []string{
		"{\"b\":\"Y2Fm6Q==\",\"h\":1.5,\"j\":\"1,\\\"s\\\":\\\"x\\\"\",\"s\":\"caf\xe9\"}\n",
		"{\"b\":\"é\",\"h\":-5.9604645e-08,\"j\":{\"a\":[1]},\"s\":\"é\"}\n",
		"{\"b\":\"\",\"h\":\"-INF\",\"j\":\"\",\"s\":\"\"}\n",
	}, lines(t, content))
}

// float16Type is the type of numbers of half precision, which the library does not have.
type float16Type struct{ parquet.Type }

func (float16Type) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

func TestDamagedDictionaryIsAnError(t *testing.T) {
	type row struct {
		ID string `parquet:"id,dict"`
	}
	content := written(t, parquet.SchemaOf(row{}), []row{{"alpha"}, {"beta"}, {"alpha"}})
	require.Len(t, lines(t, content), 3)
	at := bytes.Index(content, []byte("alpha"))
	require.Positive(t, at)
	content[at] = 'A'
	for _, skip := range []int64{0, 1} {
		r, err := Open(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		if err = r.SkipTo(skip); err == nil {
			_, _, err = r.Append(nil, nil, 100)
		}
		assert.ErrorContains(t, err, "column id: the dictionary differs from its checksum")
	}
}

// Writers that append tables write a group for an empty one, too. pyarrow wrote the file, with groups of 0, 2, 0, 1
// and 0 rows.
func TestGroupsWithoutRowsArePassedOver(t *testing.T) {
	content, err := os.ReadFile("testdata/emptygroups.parquet")
	require.NoError(t, err)
	all := []string{"{\"id\":\"a\"}\n", "{\"id\":\"b\"}\n", "{\"id\":\"c\"}\n"}
	assert.Equal(t, all, lines(t, content))
	for row := range 4 {
		r, err := Open(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		require.NoError(t, r.SkipTo(int64(row)))
		assert.Equal(t, all[row:], append([]string{}, read(t, r)...), row)
	}
}
