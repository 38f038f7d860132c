package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// front replies instead of the service: a gateway, a firewall, or another server at its address. Its replies say
// nothing about documents.
type front struct {
	status      int
	contentType string
	body        string
}

// fronts are by name, for steer(at, "front/NAME").
var fronts = map[string]front{
	"html":        {http.StatusBadRequest, "text/html", "<html><body><h1>400 Bad Request</h1><hr>gateway</body></html>"},
	"empty":       {http.StatusBadRequest, "", ""},
	"json":        {http.StatusBadRequest, "application/json", `{"statusCode":400,"message":"no healthy upstream"}`},
	"azure-json":  {http.StatusBadRequest, "application/json", `{"error":{"code":"BadRequest","message":"Unsupported resource type"}}`},
	"too-large":   {http.StatusRequestEntityTooLarge, "text/html", "<html><body><h1>413 Request Entity Too Large</h1><hr>nginx</body></html>"},
	"forbidden":   {http.StatusForbidden, "text/html", "<html><body><h1>403 Forbidden</h1><hr>Application-Gateway</body></html>"},
	"hostname":    {http.StatusBadRequest, "text/html; charset=us-ascii", `<HTML><HEAD><TITLE>Bad Request</TITLE></HEAD><BODY><h2>Bad Request - Invalid Hostname</h2><hr><p>HTTP Error 400. The request hostname is invalid.</p></BODY></HTML>`},
	"api-version": {http.StatusBadRequest, "application/json", `{"error":{"code":"","message":"The version indicated by the api-version query string parameter does not exist."}}`},
}

func (f front) reply(req *http.Request) *http.Response {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body) // so that the connection can be reused, as servers do
	}
	header := http.Header{}
	if f.contentType != "" {
		header.Set("Content-Type", f.contentType)
	}
	return &http.Response{
		StatusCode: f.status, Status: http.StatusText(f.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader(f.body)), ContentLength: int64(len(f.body)), Request: req,
	}
}

// frontDoor intercepts requests. It replies with the current front, if any, and always like a firewall to requests
// with one document.
type frontDoor struct {
	now      atomic.Pointer[front]
	firewall string
}

func (d *frontDoor) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if f := d.now.Load(); f != nil {
		return f.reply(req), nil
	}
	if d.firewall != "" && req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, fmt.Appendf(nil, `"id":%q`, d.firewall)) {
			return fronts["forbidden"].reply(req), nil
		}
	}
	return next(req)
}

// stand sets or removes the current front.
func (d *frontDoor) stand(name string) {
	if f, ok := fronts[name]; ok {
		d.now.Store(&f)
	} else {
		d.now.Store(nil)
	}
}

// nested changes the message for a missing property to the one for a missing array or object.
func nested(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(body, []byte(`The property 'rank' does not exist on type`))
	if found {
		_, after, _ = bytes.Cut(after, []byte(`"`))
		body = slices.Concat(before, []byte(`Cannot find nested property 'rank' on the resource type 'search.documentFields'."`), after)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return nil
}

// foreign are rows with replies that are not the service's own, or that are not about documents. No document may fail
// because of them.
func foreign(s setting) []row {
	var all []row
	for _, name := range []string{"html", "empty", "json", "azure-json", "too-large", "forbidden"} {
		all = append(all, row{
			name: "foreign-" + name, what: "a gateway replies to every request for 6 s: " + fronts[name].text(), spread: 9 * time.Second,
			phases:   []phase{steer(2*time.Second, "front/"+name), steer(8*time.Second, "front/none")},
			recovery: afterPhase, needs: map[string]int{fmt.Sprintf("request %d", fronts[name].status): 1},
		})
	}
	for _, name := range []string{"hostname", "api-version"} {
		all = append(all, row{
			name: "wrong-" + name, what: "the name of the service leads elsewhere, or to another version, for 6 s: " + fronts[name].text(), spread: 9 * time.Second,
			phases:   []phase{steer(2*time.Second, "front/"+name), steer(8*time.Second, "front/none")},
			recovery: afterPhase, needs: map[string]int{"request 400": 1},
		})
	}
	flapping := row{
		name: "flapping-400", what: "a gateway answers 400 for 2 s, three times", spread: 14 * time.Second,
		recovery: afterPhase, needs: map[string]int{"request 400": 3},
	}
	for i, name := range []string{"html", "empty", "json"} {
		at := time.Duration(1+4*i) * time.Second
		flapping.phases = append(flapping.phases, steer(at, "front/"+name), steer(at+2*time.Second, "front/none"))
	}
	waf := row{
		name: "waf-one-document", what: "a firewall replies 403 to every request with one document: only that document may fail",
		shape: shape{giants: []int{2 * bodyBytes}}, spread: 6 * time.Second, limit: 3 * time.Minute,
		needs: map[string]int{"request 403": 2},
		mayFail: func(_ *plan, a action, status int) bool {
			return a.size == 2*bodyBytes && status == http.StatusForbidden
		},
	}
	waf.service.Trouble.Firewall = s.giantKey(waf.shape)
	all = append(all, flapping, waf, row{
		name: "nested-property", what: "the index lacks a field that most documents have, whose value is an array or an object, for 4 s", spread: 6 * time.Second,
		service:  serviceConfig{Trouble: trouble{Drifted: true, Nested: true}},
		phases:   []phase{steer(4*time.Second, "mend")},
		recovery: afterPhase, needs: map[string]int{"request 400": 1}, mayFail: someRefused(),
	})
	for _, r := range slices.Clone(all) {
		switch r.name {
		case "foreign-html", "wrong-hostname", "flapping-400", "waf-one-document", "nested-property":
			r.name, r.what, r.queued, r.shape.once = r.name+"-queued", r.what+"; behind a filequeue", true, true
			if r.shape.giants != nil {
				r.service.Trouble.Firewall = s.giantKey(r.shape)
			}
			all = append(all, r)
		}
	}
	return all
}

func (f front) text() string {
	if f.body == "" {
		return http.StatusText(f.status) + ", without a body"
	}
	return http.StatusText(f.status) + ", " + f.contentType
}
