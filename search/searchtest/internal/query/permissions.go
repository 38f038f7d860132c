package query

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/odata"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
)

// If the permissionFilterOption of an index is enabled, a document is visible to the users,
// groups and scopes in its permission fields. "The manual" is the vendor's. The
// documentation of searchtest lists the decisions of this file where the manual is silent.

// reader has the permissions that trim results. The zero value is a request without a token,
// which sees only documents that are open to all.
type reader struct {
	elevated bool // results are not trimmed
	user     string
	groups   []string
	scopes   []string
}

// openToAll is the value of a permission field that makes a document visible to all. Other
// values that are not ids, such as "none", match no reader.
const openToAll = "all"

// readerOf returns the reader of a request from its headers. resolve is Options.Reader, nil
// for the default.
func readerOf(h http.Header, version apiversion.Version, resolve func(token string) (user string, groups, scopes []string, err error)) (reader, *reply.Error) {
	if !version.Has(apiversion.PermissionFilters) {
		return reader{}, nil // decided: such a version ignores both headers, and results are trimmed
	}
	if elevated, _ := strconv.ParseBool(h.Get("X-Ms-Enable-Elevated-Read")); elevated {
		// The manual requires a role with elevatedOperations/read, which keys do not have.
		if scheme, _, _ := strings.Cut(h.Get("Authorization"), " "); h.Get("Api-Key") != "" || !strings.EqualFold(scheme, "Bearer") {
			return reader{}, &reply.Error{
				Status: http.StatusForbidden,
				Message: "An elevated read needs a bearer token with the permission Microsoft.Search/searchServices/indexes/contentSecurity/elevatedOperations/read. " +
					"An api-key does not have it.",
			}
		}
		return reader{elevated: true}, nil
	}
	token := h.Get("X-Ms-Query-Source-Authorization")
	if scheme, rest, found := strings.Cut(token, " "); found && strings.EqualFold(scheme, "Bearer") {
		token = rest // the manual has it with and without
	}
	if token = strings.TrimSpace(token); token == "" {
		return reader{}, nil
	}
	if resolve == nil {
		resolve = tokenClaims
	}
	var out reader
	var err error
	if out.user, out.groups, out.scopes, err = resolve(token); err != nil {
		// The manual: a failure must not give a part of the results.
		return reader{}, &reply.Error{Status: http.StatusServiceUnavailable, Message: "The permissions of the user in x-ms-query-source-authorization could not be evaluated: " + err.Error() + "."}
	}
	return out, nil
}

// tokenClaims returns the user and the groups in a JSON Web Token, without checking its
// signature.
func tokenClaims(token string) (user string, groups, scopes []string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", nil, nil, errors.New("the token is not a JSON Web Token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", nil, nil, errors.New("the claims of the token are not base64url")
	}
	var claims struct {
		OID    string   `json:"oid"`
		Groups []string `json:"groups"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.OID == "" {
		return "", nil, nil, errors.New("the token has no claim oid")
	}
	return claims.OID, claims.Groups, nil, nil
}

// filter returns the OData condition for documents visible to the reader, "" if the index
// does not trim. A match in one kind of permission field is enough.
func (rd reader) filter(sc *schema.Index) string {
	if rd.elevated || sc.Object.Str("permissionFilterOption") != "enabled" {
		return ""
	}
	var conditions []string
	for _, f := range sc.Object.Objects("fields") {
		var ids []string
		switch f.Str("permissionFilter") {
		case "userIds":
			ids = append(ids, openToAll)
			if rd.user != "" {
				ids = append(ids, rd.user)
			}
		case "groupIds":
			ids = append([]string{openToAll}, rd.groups...)
		case "rbacScope":
			ids = rd.scopes
		}
		if len(ids) == 0 {
			continue
		}
		const separator = "|" // a character that ids do not contain
		list := ", '" + strings.ReplaceAll(strings.Join(ids, separator), "'", "''") + "', '" + separator + "')"
		if name := f.Str("name"); strings.HasPrefix(f.Str("type"), "Collection(") {
			conditions = append(conditions, name+"/any(id: search.in(id"+list+")")
		} else {
			conditions = append(conditions, "search.in("+name+list)
		}
	}
	if conditions == nil {
		return "false" // decided: without a permission field that matches, no document is visible
	}
	return strings.Join(conditions, " or ")
}

// sees reports whether the reader may see a document.
func (rd reader) sees(sc *schema.Index, document []byte) bool {
	text := rd.filter(sc)
	if text == "" {
		return true
	}
	if sc.CompileNormalizers() != nil {
		return false
	}
	filter, err := odata.CompileFilter(text, sc.Expressions())
	return err == nil && filter.Match(document, 0, nil)
}

// compileFilter compiles the filter of a query combined with that of the reader, nil if both
// are empty.
func (a *arguments) compileFilter(o *odata.Options, sc *schema.Index) (*odata.Filter, *reply.Error) {
	text, visible := a.text("filter"), a.reader.filter(sc)
	var filter *odata.Filter
	compile := func(text string) *reply.Error {
		var err error
		if filter, err = odata.CompileFilter(text, o); err != nil {
			return reply.InvalidExpression(err.Error(), "$filter")
		}
		return nil
	}
	given := strings.TrimSpace(text) != ""
	if given {
		if err := compile(text); err != nil { // separately, so that the error is about the query's own filter
			return nil, err
		}
	}
	if visible == "" {
		return filter, nil
	}
	if given {
		visible = "(" + text + ") and (" + visible + ")"
	}
	err := compile(visible)
	return filter, err
}
