package searchtest

import (
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// needText makes the text index of a view, or gives it the synonym maps of now.
func (s *Server) needText(v *view) *serviceError {
	var versions strings.Builder
	rules := make(map[string]*textindex.Synonyms)
	for i := range v.schema.texts {
		f := &v.schema.texts[i]
		for _, name := range f.definition.strings("synonymMaps") {
			synonyms, version, err := s.synonyms(name)
			if err != nil {
				return &serviceError{
					status:  http.StatusBadRequest,
					message: "The field '" + f.path + "' uses the synonym map '" + name + "', which does not exist.",
				}
			}
			rules[name] = synonyms
			versions.WriteString(name + "=" + version + "\n")
		}
	}
	if v.text != nil && v.synonyms == versions.String() {
		return nil
	}
	config, err := v.schema.textConfig(rules)
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
