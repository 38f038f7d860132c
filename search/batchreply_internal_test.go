package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// seeds has well-formed and malformed replies.
var seeds = []string{
	`{"value":[]}`,
	`{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":201}]}`,
	`{"@odata.context":"https://x/$metadata#Collection(Microsoft.Azure.Search.V2020_06_30.IndexResult)","value":[{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`,
	`{"value":[{"key":"1","status":false,"errorMessage":"Document not found.","statusCode":404},{"key":"2","status":true,"errorMessage":"","statusCode":200}]}`,
	` { "value" : [ { "statusCode" : 400 , "errorMessage" : "a \"b\" \u00fc\r\n" , "key" : "ü" , "status" : false } ] } `,
	`{"value":[{"key":"1","key":"2"}]}`, `{"value":[{"key":null}]}`, `{"value":[{"Key":"1"}]}`, `{"value":[{}]}`, `{"value":[null]}`,
	`{"value":[{"key":"1","other":[1,{"a":2}],"statusCode":2e2}]}`, `{"value":[{"statusCode":-1}]}`, `{"value":[{"statusCode":007}]}`,
	`{"value":[{"statusCode":1.0}]}`, `{"value":[{"statusCode":99999999999999999999}]}`, `{"value":[{"status":"true"}]}`,
	`{"value":[{"key":"\ud800"}]}`, `{"value":[{"key":"\x"}]}`, "{\"value\":[{\"key\":\"\xff\"}]}", "{\"value\":[{\"key\":\"\n\"}]}",
	`{"value":[{"key":"a\`, `{"value":[{"key":"a\"`, `{"value":[],"value":[{"key":"1"}]}`, `{"value":[]} x`, `{"value":[{"key":"1"},]}`, ``, `null`, `[]`,
	`{"value":[{"key":"a\\","status":true,"errorMessage":null,"statusCode":200}]}`, `{"value":[{"key":"\u0041","status":true,"errorMessage":null,"statusCode":201}]}`,
	`{"value":[{"key":"a","status":true,"errorMessage":null,"statusCode":204},{"key":"b","status":true,"errorMessage":null,"statusCode":2000}]}`,
	`{"value":[{"key":"a","status":true,"errorMessage":null,"statusCode":200,"key":"b"}]}`, `{"value":[{"key":"a","status":true,"errorMessage":null,"statusCode":200.0}]}`,
	`{"value":[{"key":"a","status":true,"errorMessage":null,"statusCode":20`, `{"value":[{"key":"é","status":true,"errorMessage":null,"statusCode":200}]}`,
	`{"value":[{"errorMessage":nullx}]}`, `{"value":[{"status":truefalse}]}`, `{"@odata.context":1,"value":[]}`, `{"@odata.context":"","values":[]}`,
	`{"value@odata.type":"#Collection(x)","value":[{"@odata.type":"#x","key@odata.type":"#String","key":"1","status":true,"statusCode@odata.type":"#Int32","statusCode":201}]}`,
	`{"value":[{"key":"1","status":false,"status@odata.type":"#Boolean","errorMessage":"e","statusCode":404,"statusCode@odata.type":7}],"error@odata.type":"#x"}`,
}

// A service may write the types of members beside them, as with odata.metadata=full.
func TestTypesBesideMembersAreReadOver(t *testing.T) {
	for reply, want := range map[string]models.IndexingResult{
		seeds[len(seeds)-2]: {Key: "1", Succeeded: true, StatusCode: 201},
		seeds[len(seeds)-1]: {Key: "1", ErrorMessage: "e", StatusCode: 404},
	} {
		results, err := decodeResults([]byte(reply))
		require.NoError(t, err)
		require.Equal(t, []models.IndexingResult{want}, results)
	}
	var stats models.IndexStatistics
	require.NoError(t, decodeInto(&stats, []byte(`{"documentCount@odata.type":"#Int64","documentCount":3,"storageSize":1,"storageSize@odata.type":"#Int64"}`), "documentCount"))
	require.EqualValues(t, []int64{3, 1}, []int64{stats.DocumentCount, stats.StorageSize})
}

// decodeResults returns the same results as encoding/json, and an error where that fails.
func FuzzDecodeResults(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		results, err := decodeResults(body)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			require.ErrorIs(t, err, models.ErrMalformedReply)
			assert.Nil(t, results)
		}
		var want struct {
			Value *[]models.IndexingResult `json:"value"`
		}
		plain := bytes.TrimPrefix(body, []byte("\ufeff"))
		wantErr := json.Unmarshal(plain, &want)
		if wantErr != nil || want.Value == nil || plainReply(plain) != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, len(*want.Value), len(results))
		for i, r := range results {
			require.Equal(t, (*want.Value)[i], r)
		}
		clear(body)
		for i, r := range results {
			require.Equal(t, (*want.Value)[i], r, "results do not refer to the memory of the body, which is used again")
		}
	})
}

// Replies of the usual shape are read by the fast scanner alone.
func TestTheUsualReplyNeedsNoSecondReading(t *testing.T) {
	for _, s := range seeds[:5] {
		_, ok := scanResults([]byte(s))
		assert.True(t, ok, s)
	}
}

func FuzzParseErrorBody(f *testing.F) {
	for _, s := range []string{
		"", "\ufeff", "text", "<a>b", `{}`, `{"error":{}}`, `{"error":null}`, `{"error":"x"}`, `{"error":[1]}`,
		`{"error":{"code":"C","message":"M","details":[{"code":"D","message":"E","target":"T"},null,3,[]]}}`,
		`{"odata.error":{"code":"C","message":{"lang":"en","value":"V"}}}`, `{"Message":"m"}`, `{"error":{"code":1,"message":2,"details":{}}}`, "\xff<\xfe>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reply := parseErrorBody(body)
		if reply.foreign && len(reply.message) > maxForeignMessage+len("…") {
			t.Fatalf("a foreign message of %d bytes", len(reply.message))
		}
		if reply.empty && (reply.message != "" || reply.foreign) {
			t.Fatal("empty, and yet not")
		}
	})
}

func FuzzParseCount(f *testing.F) {
	for _, s := range []string{"\ufeff0", "10", "-1", "+1", "", "1_000", "0x1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := parseCount(body)
		if err != nil {
			require.ErrorIs(t, err, models.ErrMalformedReply)
			return
		}
		if n < 0 {
			t.Fatalf("%q is %d", body, n)
		}
	})
}

// reply1000 returns the reply to a batch of 1000 documents.
func reply1000(failing bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"value":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		if failing {
			fmt.Fprintf(&b, `{"key":"document-%06d","status":false,"errorMessage":"The search service is too busy to process this document. Please try again later.","statusCode":503}`, i)
		} else {
			fmt.Fprintf(&b, `{"key":"document-%06d","status":true,"errorMessage":null,"statusCode":201}`, i)
		}
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkDecodeResults(b *testing.B) {
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"1000 indexed", reply1000(false)},
		{"1000 refused", reply1000(true)},
		{"1000 indexed, indented", indented(reply1000(false))},
		{"1000 indexed, another shape", bytes.Replace(reply1000(false), []byte(`{"value"`), []byte(`{"new":1,"value"`), 1)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				results, err := decodeResults(c.body)
				if err != nil || len(results) != 1000 {
					b.Fatal(len(results), err)
				}
			}
		})
	}
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// The buffered sender decodes each reply on its hot path, so allocations are limited.
func TestDecodingAFullBatchHardlyAllocates(t *testing.T) {
	for _, failing := range []bool{false, true} {
		body := reply1000(failing)
		allocs := testing.AllocsPerRun(20, func() {
			if _, err := decodeResults(body); err != nil {
				t.Error(err)
			}
		})
		assert.LessOrEqual(t, allocs, 20.0)
	}
}
