package search

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// errorReply is what could be made of the body of an error.
type errorReply struct {
	code, message string
	details       []ErrorDetail

	empty   bool // there was no body
	foreign bool // the body is not the service's: a proxy, another web server
	bare    bool // it says something, but not in the form that the service writes: a gateway, another service

	location string // of a redirect, " (to https://host)"; its path may hold secrets
}

// aboutDocument reports whether a 404 to a lookup is about the document, not
// about the index. The service then leaves the body empty. Other
// implementations of its API say it in words, because some clients cannot handle
// an empty body.
func (r errorReply) aboutDocument() bool {
	if r.empty {
		return true
	}
	message := strings.ToLower(quotedName.ReplaceAllString(r.message, "")) // an index may be called 'documents'
	document, index := strings.Index(message, "document"), strings.Index(message, "index")
	return document >= 0 && (index < 0 || document < index)
}

// quotedName is a name in an explanation.
var quotedName = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// maxForeignMessage is how many bytes of a body that is not the service's are
// quoted.
const maxForeignMessage = 200

// parseErrorBody never fails: a body that is not what the documentation
// promises (empty, HTML, cut off) still says something.
func parseErrorBody(body []byte) errorReply {
	body = bytes.TrimSpace(trimBOM(body))
	if len(body) == 0 {
		return errorReply{empty: true}
	}
	if reply, ok := parseServiceError(body); ok {
		return reply
	}
	return errorReply{foreign: true, message: foreignMessage(body)}
}

// parseServiceError reads the forms {"error":{…}}, {"odata.error":{…}} and the
// same without the wrapping, member by member, so that one odd member does not
// cost the others.
func parseServiceError(body []byte) (errorReply, bool) {
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil || outer == nil {
		return errorReply{}, false
	}
	inner, wrapped := outer, false
	bare := errorReply{bare: true}
	for _, name := range []string{"error", "odata.error"} {
		raw, ok := outer[name]
		if !ok {
			continue
		}
		var object map[string]json.RawMessage
		if text := stringMember(raw); text != "" {
			bare.message = text
			return bare, true
		}
		if json.Unmarshal(raw, &object) == nil && object != nil {
			inner, wrapped = object, true
			break
		}
	}
	code := inner["code"]
	reply := errorReply{code: stringMember(code), message: messageMember(inner["message"])}
	// A number in its place is the form of other gateways and of JSON-RPC.
	reply.bare = !wrapped || len(code) > 0 && code[0] != '"' && string(code) != "null"
	if reply.message == "" {
		reply.message = messageMember(inner["Message"]) // API gateways
	}
	var details []json.RawMessage
	_ = json.Unmarshal(inner["details"], &details)
	for _, raw := range details {
		var d map[string]json.RawMessage
		if json.Unmarshal(raw, &d) != nil || d == nil {
			continue
		}
		reply.details = append(reply.details, ErrorDetail{
			Code:    stringMember(d["code"]),
			Message: messageMember(d["message"]),
			Target:  stringMember(d["target"]),
		})
	}
	return reply, wrapped || reply.code != "" || reply.message != "" || len(reply.details) > 0
}

// stringMember returns the string in raw, "" if it holds anything else.
func stringMember(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// messageMember returns a message, which old OData services wrap together with
// its language.
func messageMember(raw json.RawMessage) string {
	var wrapped struct{ Value string }
	if s := stringMember(raw); s != "" {
		return strings.TrimSpace(s)
	}
	if json.Unmarshal(raw, &wrapped) != nil {
		return ""
	}
	return strings.TrimSpace(wrapped.Value)
}

// foreignMessage quotes the beginning of a body that is not the service's, as
// text: what a proxy has to say is often the whole explanation.
func foreignMessage(body []byte) string {
	var b strings.Builder
	tag := false
	for _, r := range string(body[:min(len(body), 8*maxForeignMessage)]) {
		switch {
		case r == '<':
			tag = true
			b.WriteByte(' ')
		case r == '>' && tag:
			tag = false
		case tag || r == utf8.RuneError:
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	text := oneLine(b.String())
	if len(text) > maxForeignMessage {
		end := maxForeignMessage
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return text
}
