package resources

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// mostOnPage is the default and maximum number of definitions in a page of a list.
const mostOnPage = 3000

// pageOf returns the names for a page of a list, from sorted names, and the address of the
// next page, "" if there is none. Versions without pages get all names.
func pageOf(r *http.Request, rt routing.Route, names []string) (page []string, next string, err *reply.Error) {
	if !rt.Version.Has(apiversion.ListPages) {
		return names, "", nil
	}
	bad := func(name string) ([]string, string, *reply.Error) {
		return nil, "", &reply.Error{
			Status:  http.StatusBadRequest,
			Message: "The value '" + rt.Query.Get(name) + "' is not valid for the query parameter '" + name + "'.",
		}
	}
	size := mostOnPage
	if text := rt.Query.Get("pageSize"); text != "" {
		var fault error
		if size, fault = strconv.Atoi(text); fault != nil || size < 1 || size > mostOnPage {
			return bad("pageSize")
		}
	}
	if typ := rt.Query.Get("searchType"); typ != "" && typ != "prefix" {
		return bad("searchType")
	}
	prefix, after := rt.Query.Get("search"), rt.Query.Get("$skiptoken")
	page = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, prefix) || after != "" && name <= after
	})
	if len(page) <= size {
		return page, "", nil
	}
	page = page[:size]
	rt.Query.Set("$skiptoken", page[size-1])
	return page, reply.BaseURL(r) + r.URL.EscapedPath() + "?" + rt.Query.Encode(), nil
}

// appendNextLink ends the object of a list, with the address of the next page unless next is
// "".
func appendNextLink(dst []byte, next string) []byte {
	if next != "" {
		dst = append(dst, `,"@odata.nextLink":`...)
		dst = reply.AppendString(dst, next)
	}
	return append(dst, '}')
}
