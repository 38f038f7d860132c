package query

import (
	"bytes"
	"math"
	"net/http"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/facets"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Search answers GET …/docs?search=… and POST …/docs/search.post.search.
func (rq *Request) Search() (status int, body []byte, err *reply.Error) {
	args, err := rq.arguments("search", searchParameters)
	if err != nil {
		return 0, nil, err
	}
	var p *searchPlan
	prepare := func(v *View) (err *reply.Error) {
		if p, err = planSearch(v.schema, args); err != nil {
			return err
		}
		if err = rq.prepareSemantic(p); err != nil {
			return err
		}
		return rq.prepareSearch(v, p)
	}
	var failed *reply.Error
	run := func(v *View) {
		var out *found
		if out, failed = p.run(v); failed == nil {
			body = p.appendReply(nil, rq, out)
		}
	}
	if err := rq.Read(prepare, run); err != nil {
		return 0, nil, err
	}
	return p.status(), body, failed
}

// prepareSearch builds the indexes that a search needs.
func (rq *Request) prepareSearch(v *View, p *searchPlan) *reply.Error {
	if p.needsText() {
		if err := rq.needText(v); err != nil {
			return err
		}
	}
	if _, walks := p.walks(); walks {
		v.needKeys()
	}
	for i := range p.vectors {
		l := &p.vectors[i]
		if _, err := v.needVectors(l.field, l.metric); err != nil {
			return &reply.Error{Status: http.StatusBadRequest, Message: err.Error()}
		}
	}
	return nil
}

// appendReply appends the reply to a search.
func (p *searchPlan) appendReply(dst []byte, rq *Request, out *found) []byte {
	dst = append(dst, '{')
	dst = reply.AppendContext(dst, rq.HTTP, "/indexes('"+rq.Route.Index+"')/$metadata#docs(*)")
	if p.count {
		dst = append(dst, `"@odata.count":`...)
		dst = strconv.AppendInt(dst, out.total, 10)
		dst = append(dst, ',')
	}
	if p.coverage {
		dst = append(dst, `"@search.coverage":100.0,`...)
	}
	if len(p.facets) > 0 {
		dst = p.appendFacets(dst, out.buckets)
	}
	dst = p.appendAnswers(dst, out.answers)
	dst = p.appendPartial(dst)
	size := int64(len(out.rows))
	if out.more && !p.args.get {
		dst = append(dst, `"@search.nextPageParameters":`...)
		dst = p.args.appendContinuation(dst, p.skip+size, p.top-size)
		dst = append(dst, ',')
	}
	dst = append(dst, `"value":[`...)
	for i := range out.rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		row := &out.rows[i]
		dst = append(dst, `{"@search.score":`...)
		dst = p.appendScore(dst, row.Score)
		if i < len(out.ranked) {
			dst = p.appendRanking(dst, &out.ranked[i])
		}
		dst = p.appendHighlights(dst, out, row.Document)
		if i < len(out.ranked) {
			dst = p.appendDebug(dst, &out.ranked[i])
		}
		dst = appendFields(dst, p.sc, row.Document, p.chosen)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if out.more {
		dst = append(dst, `,"@odata.nextLink":`...)
		dst = reply.AppendString(dst, p.nextLink(rq.HTTP, size))
	}
	return append(dst, '}')
}

// appendFacets appends the facets. Those of one field form a list, which only metrics can
// have with more than one element.
func (p *searchPlan) appendFacets(dst []byte, buckets [][]facets.Bucket) []byte {
	var names []string
	byName := make(map[string][]facets.Bucket)
	for i, f := range p.facets {
		if _, found := byName[f.Name]; !found {
			names = append(names, f.Name)
		}
		byName[f.Name] = append(byName[f.Name], buckets[i]...)
	}
	dst = append(dst, `"@search.facets":{`...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = reply.AppendString(dst, name)
		dst = append(dst, ':')
		dst = p.appendBuckets(dst, byName[name])
	}
	return append(dst, "},"...)
}

// appendFigure appends the result of a metric.
func appendFigure(dst []byte, f *facets.Figure) []byte {
	dst = append(dst, `{"`+string(f.Metric)+`":`...)
	switch {
	case !f.Known:
		dst = append(dst, "null"...)
	case f.Metric == facets.Cardinality:
		dst = strconv.AppendInt(dst, int64(f.Value), 10)
	default:
		dst = reply.AppendDouble(dst, f.Value)
	}
	return append(dst, '}')
}

// appendFields appends the fields of a document after other members.
func appendFields(dst []byte, sc *schema.Index, document []byte, chosen *selection) []byte {
	before := len(dst)
	dst = append(dst, ',')
	dst = appendMembers(dst, sc.Fields, document, chosen)
	if len(dst) == before+1 {
		return dst[:before]
	}
	return dst
}

// appendScore appends the score of a result with as few digits as identify it. Recorded: a
// score fused from several lists has the digits of a 64-bit number.
func (p *searchPlan) appendScore(dst []byte, score float64) []byte {
	if p.fuses() {
		return appendSingle(dst, score, 64)
	}
	return appendSingle(dst, score, 32)
}

// appendSingle appends a score, which the service computes in 32 bits, with the digits of a
// number of that many bits. Boosts may make a score infinite, which JSON cannot contain.
func appendSingle(dst []byte, score float64, bits int) []byte {
	if score = min(score, math.MaxFloat32); math.IsNaN(score) {
		score = 0
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, float64(float32(score)), 'f', -1, bits)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// nextLink returns the address of the next page. For a POST it is the same address; for a
// GET it has another skip, and another top if the request had one.
func (p *searchPlan) nextLink(r *http.Request, size int64) string {
	address := reply.BaseURL(r) + r.URL.EscapedPath() + "?"
	if !p.args.get {
		return address + "api-version=" + r.URL.Query().Get("api-version")
	}
	query := r.URL.Query()
	query.Set("$skip", strconv.FormatInt(p.skip+size, 10))
	if p.args.has("top") {
		query.Set("$top", strconv.FormatInt(p.top-size, 10))
	}
	return address + query.Encode()
}

// appendBuckets appends the buckets of a facet.
func (p *searchPlan) appendBuckets(dst []byte, buckets []facets.Bucket) []byte {
	countFirst := !p.args.version.Has(apiversion.CountLast)
	dst = append(dst, '[')
	for i := range buckets {
		b := &buckets[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		if b.Figure != nil {
			dst = appendFigure(dst, b.Figure)
			continue
		}
		dst = append(dst, '{')
		if countFirst {
			dst = append(appendCount(dst, b.Count), ',')
		}
		if !b.Range {
			dst = append(appendFacetValue(append(dst, `"value":`...), &b.Value, false), ',')
		}
		if b.HasFrom {
			dst = append(appendFacetValue(append(dst, `"from":`...), &b.From, true), ',')
		}
		if b.HasTo {
			dst = append(appendFacetValue(append(dst, `"to":`...), &b.To, true), ',')
		}
		if countFirst {
			dst = dst[:len(dst)-1]
		} else {
			dst = appendCount(dst, b.Count)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendCount(dst []byte, count int64) []byte {
	return strconv.AppendInt(append(dst, `"count":`...), count, 10)
}

// appendFacetValue appends the value of a bucket or the bound of a range.
func appendFacetValue(dst []byte, v *facets.Value, bound bool) []byte {
	switch v.Type {
	case stored.String:
		return reply.AppendString(dst, v.Text)
	case stored.Boolean:
		return strconv.AppendBool(dst, v.Integer != 0)
	case stored.Double:
		return reply.AppendDouble(dst, v.Double)
	case stored.DateTimeOffset:
		dst = append(dst, '"')
		if bound {
			dst = facets.AppendBound(dst, v.Integer)
		} else {
			dst = stored.AppendDateTime(dst, v.Integer)
		}
		return append(dst, '"')
	default:
		return strconv.AppendInt(dst, v.Integer, 10)
	}
}

// appendHighlights appends the highlights of a document, if there are any.
func (p *searchPlan) appendHighlights(dst []byte, out *found, document []byte) []byte {
	if out.marks == nil {
		return dst
	}
	open := false
	for _, h := range p.highlights {
		values := schema.AppendTexts(nil, p.sc.Texts[p.sc.TextField(h.path)].Fields, document)
		fragments := out.marks.Fragments(h.path, values, h.limit, p.tags)
		if len(fragments) == 0 {
			continue
		}
		if !open {
			dst = append(dst, `,"@search.highlights":{`...)
			open = true
		} else {
			dst = append(dst, ',')
		}
		dst = reply.AppendString(dst, h.path)
		dst = append(dst, ":["...)
		for i, text := range fragments {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = reply.AppendString(dst, text)
		}
		dst = append(dst, ']')
	}
	if open {
		dst = append(dst, '}')
	}
	return dst
}
