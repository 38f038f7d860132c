package resources

import (
	"net/http"
	"strconv"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/refusal"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// maxSynonymRules is the maximum number of rules in a map, in the largest tiers.
const maxSynonymRules = 20_000

// synonymMap is a synonym map with its parsed rules.
type synonymMap struct {
	shape.Resource
	rules *textindex.Synonyms
}

var synonymMapShape = shape.Shape{TypeName: "SynonymMap", Members: []shape.Property{
	shape.Text("name").Must(),
	shape.Text("format").Must().Among("solr"),
	shape.Text("synonyms").Must(),
	shape.ObjectOf("encryptionKey", &schema.EncryptionKey).When(apiversion.EncryptionKeys),
}}

func init() { synonymMapKind.offerAll() }

// synonymMapKind describes synonym maps.
var synonymMapKind = (&resourceKind[*synonymMap]{
	set:     "synonymmaps",
	shape:   &synonymMapShape,
	title:   "SynonymMap",
	plural:  "SynonymMaps",
	noun:    "synonym map",
	compact: "synonymMap",
	service: "service",
	parse:   parseSynonymMap,
	// Documented: a map can be deleted while fields name it. Searches in these fields are
	// then refused.
}).in(func(c *Catalog) map[string]*synonymMap { return c.synonymMaps })

// parseSynonymMap reads the definition of a synonym map.
func parseSynonymMap(_ *Service, body []byte, version apiversion.Version) (*synonymMap, *reply.Error) {
	p := shape.NewParser("synonymMap", version)
	object, err := p.Read(body, &synonymMapShape)
	if err != nil {
		return nil, err
	}
	m := &synonymMap{Resource: shape.Resource{Name: object.Str("name"), Object: object}}
	if reason := refusal.Name("Synonym map", m.Name, 1); reason != "" {
		return nil, p.Refuse("InvalidName", "Invalid synonym map name: "+reason)
	}
	var parseErr error
	if m.rules, parseErr = textindex.ParseSynonyms(object.Str("synonyms")); parseErr != nil {
		return nil, badSynonyms(p, parseErr)
	}
	if n := m.rules.Len(); n > maxSynonymRules {
		return nil, p.Refuse("TooManySynonymRules", "The synonym map '"+m.Name+"' has "+strconv.Itoa(n)+" rules. At most "+strconv.Itoa(maxSynonymRules)+" are allowed.")
	}
	return m, nil
}

// badSynonyms refuses rules that cannot be parsed. Recorded: with the bare message.
func badSynonyms(p *shape.Parser, err error) *reply.Error {
	e := &reply.Error{Status: http.StatusBadRequest, Message: err.Error()}
	if !p.Coded() {
		return e
	}
	return e.WithCode("InvalidRequestParameter", "InvalidSynonymMapSyntax")
}

// Synonyms returns the current rules of a synonym map and their version, which is its entity
// tag. found is false if a map that fields name was deleted.
func (s *Service) Synonyms(name string) (rules *textindex.Synonyms, version string, found bool) {
	s.lock.RLock()
	defer s.lock.RUnlock()
	m := s.synonymMaps[name]
	if m == nil {
		return nil, "", false
	}
	return m.rules, m.ETag, true
}
