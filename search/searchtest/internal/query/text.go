package query

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// needText builds the text index of a view, or updates its synonym maps.
func (rq *Request) needText(v *View) *reply.Error {
	var versions strings.Builder
	rules := make(map[string]*textindex.Synonyms)
	for i := range v.schema.Texts {
		f := &v.schema.Texts[i]
		for _, name := range f.Definition.Strings("synonymMaps") {
			synonyms, version, found := rq.Synonyms(name)
			if !found {
				return &reply.Error{
					Status:  http.StatusBadRequest,
					Message: "The field '" + f.Path + "' uses the synonym map '" + name + "', which does not exist.",
				}
			}
			rules[name] = synonyms
			versions.WriteString(name + "=" + version + "\n")
		}
	}
	if v.text != nil && v.synonyms == versions.String() {
		return nil
	}
	config, err := v.schema.TextConfig(rules)
	if err != nil {
		return err
	}
	v.synonyms = versions.String()
	if v.text != nil {
		v.text.SetFields(config.Fields)
		return nil
	}
	v.needText(config)
	return nil
}
