package definitions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Kind is a kind of definitions, such as indexes.
type Kind struct {
	Folder string // folder of its files, and collection in URLs
	Noun   string

	list        func(context.Context, *connect.Service) iter.Seq2[json.RawMessage, error]
	create, put func(context.Context, *connect.Service, json.RawMessage) error
}

// The kinds of definitions.
var (
	SynonymMaps = kindOf("synonymmaps", "synonym map", indexes,
		(*search.IndexClient).ListSynonymMaps, (*search.IndexClient).CreateSynonymMap, (*search.IndexClient).CreateOrUpdateSynonymMap)
	Indexes = kindOf("indexes", "index", indexes,
		(*search.IndexClient).ListIndexes, (*search.IndexClient).CreateIndex, (*search.IndexClient).CreateOrUpdateIndex)
	Aliases = kindOf("aliases", "alias", indexes,
		(*search.IndexClient).ListAliases, (*search.IndexClient).CreateAlias, (*search.IndexClient).CreateOrUpdateAlias)
	DataSources = kindOf("datasources", "data source", indexers,
		(*search.IndexerClient).ListDataSources, (*search.IndexerClient).CreateDataSource, (*search.IndexerClient).CreateOrUpdateDataSource)
	Skillsets = kindOf("skillsets", "skillset", indexers,
		(*search.IndexerClient).ListSkillsets, (*search.IndexerClient).CreateSkillset, (*search.IndexerClient).CreateOrUpdateSkillset)
	Indexers = kindOf("indexers", "indexer", indexers,
		(*search.IndexerClient).ListIndexers, (*search.IndexerClient).CreateIndexer, (*search.IndexerClient).CreateOrUpdateIndexer)
	KnowledgeSources = kindOf("knowledgesources", "knowledge source", indexes,
		(*search.IndexClient).ListKnowledgeSources, (*search.IndexClient).CreateKnowledgeSource, (*search.IndexClient).CreateOrUpdateKnowledgeSource)
	KnowledgeBases = kindOf("knowledgebases", "knowledge base", indexes,
		(*search.IndexClient).ListKnowledgeBases, (*search.IndexClient).CreateKnowledgeBase, (*search.IndexClient).CreateOrUpdateKnowledgeBase)

	// Kinds are all kinds in an order in which definitions can be created: those that others refer to come first.
	Kinds = []*Kind{SynonymMaps, Indexes, Aliases, DataSources, Skillsets, Indexers, KnowledgeSources, KnowledgeBases}
)

func indexes(s *connect.Service) *search.IndexClient    { return s.IndexClient }
func indexers(s *connect.Service) *search.IndexerClient { return s.Indexers }

// kindOf makes a kind from the client's calls for definitions of type T.
func kindOf[T, C, L, N, P any](folder, noun string, client func(*connect.Service) C,
	list func(C, context.Context, *L) iter.Seq2[T, error], create func(C, context.Context, T, *N) (T, error), put func(C, context.Context, T, *P) (T, error),
) *Kind {
	return &Kind{
		Folder: folder, Noun: noun,
		list: func(ctx context.Context, s *connect.Service) iter.Seq2[json.RawMessage, error] {
			return func(yield func(json.RawMessage, error) bool) {
				for definition, err := range list(client(s), ctx, nil) {
					var content []byte
					if err == nil {
						content, err = json.Marshal(definition)
					}
					if err == nil && (folder == "indexes" || folder == "datasources") {
						content, err = whole[T](ctx, s, folder, content)
					}
					if !yield(content, err) {
						return
					}
				}
			}
		},
		create: sending(client, noun, create),
		put:    sending(client, noun, put),
	}
}

// Index reads the definition of one index.
func Index(ctx context.Context, s *connect.Service, name string) (*Definition, error) {
	index, err := s.GetIndex(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(index)
	if err == nil {
		content, err = whole[models.SearchIndex](ctx, s, "indexes", content)
	}
	if err != nil {
		return nil, err
	}
	d, err := parse(Indexes, content)
	d.hide(map[string]int{})
	return &d, err
}

// whole returns the definition with the members that api-versions before permission filters do not return. A backup
// without them would restore an index that every user may read. It returns content unchanged if the service does not
// support the newer api-version.
func whole[T any](ctx context.Context, s *connect.Service, folder string, content json.RawMessage) (json.RawMessage, error) {
	if apiversion.Of(s.APIVersion).Has(apiversion.PermissionFilters) {
		return content, nil
	}
	d, err := parse(nil, content)
	if err != nil {
		return nil, err
	}
	resp, err := search.Do(ctx, s.IndexClient, http.MethodGet, search.PathOf(folder, d.Name), nil, &search.DoOptions{APIVersion: apiversion.PermissionFilters.Stable().String()})
	if said := (*search.Error)(nil); errors.As(err, &said) && said.StatusCode == http.StatusBadRequest {
		return content, nil
	}
	if err != nil {
		return nil, err
	}
	var definition T
	if err := json.NewDecoder(resp.Body).Decode(&definition); err != nil {
		return nil, err
	}
	newer, err := json.Marshal(definition)
	if bytes.Contains(newer, []byte(`"indexerPermissionOptions":[]`)) {
		return content, err // a data source without permissions; older api-versions refuse the member
	}
	return newer, err
}

func sending[T, C, O any](client func(*connect.Service) C, noun string, send func(C, context.Context, T, *O) (T, error)) func(context.Context, *connect.Service, json.RawMessage) error {
	return func(ctx context.Context, s *connect.Service, content json.RawMessage) error {
		var definition T
		if err := json.Unmarshal(content, &definition); err != nil {
			return fmt.Errorf("%s: %w", noun, err)
		}
		_, err := send(client(s), ctx, definition, nil)
		return connect.Failed(err)
	}
}

// Create creates a definition from content, which Expand has completed. If one of the name exists, it is an error.
func (k *Kind) Create(ctx context.Context, s *connect.Service, content json.RawMessage) error {
	return k.create(ctx, s, content)
}

// Put creates or replaces a definition.
func (k *Kind) Put(ctx context.Context, s *connect.Service, content json.RawMessage) error {
	return k.put(ctx, s, content)
}
