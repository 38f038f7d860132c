package search

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// errorReply is the parsed body of an error.
type errorReply struct {
	code, message string
	details       []ErrorDetail

	empty   bool // the reply has no body
	foreign bool // the body does not have the form of the service: a proxy, another web server
	bare    bool // the body is an explanation, but in another form than the service's: a gateway, another service

	location string // of a redirect, " (to https://host)", without its path, which may hold secrets
}

// aboutDocument reports whether a 404 to a lookup is about the document and not about the index. For a missing
// document the service sends an empty body. Other implementations of its API send a message, because some clients
// cannot handle an empty body.
func (r errorReply) aboutDocument() bool {
	if r.empty {
		return true
	}
	message := strings.ToLower(quotedName.ReplaceAllString(r.message, "")) // an index may be called 'documents'
	document, index := strings.Index(message, "document"), strings.Index(message, "index")
	return document >= 0 && (index < 0 || document < index)
}

// quotedName matches a quoted name in a message.
var quotedName = regexp.MustCompile(`'[^']*'|"[^"]*"`)

// maxForeignMessage is the number of bytes that are quoted of a foreign reply.
const maxForeignMessage = 200

// parseErrorBody reads the body of an error. It never fails: an undocumented body (empty, HTML, cut off) is quoted.
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

// parseServiceError reads the forms {"error":{…}}, {"odata.error":{…}} and the same without the wrapping. It decodes
// each member separately, so that a malformed member does not lose the others.
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
	// A code that is a number is the form of other gateways and of JSON-RPC.
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

// messageMember returns a message. Old OData services wrap it in an object with its language.
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

// foreignMessage quotes the beginning of a foreign reply as plain text: the message of a proxy often explains the
// error.
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
		case tag:
		case r < ' ' || r == 0x7f || r == utf8.RuneError: // dropped, it would join the parts of a secret around it
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
