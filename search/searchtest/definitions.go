package searchtest

import (
	"net/http"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/resources"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// The operations on indexes.
const (
	OpCreateIndex         Operation = "createIndex"
	OpCreateOrUpdateIndex Operation = "createOrUpdateIndex"
	OpGetIndex            Operation = "getIndex"
	OpListIndexes         Operation = "listIndexes"
	OpDeleteIndex         Operation = "deleteIndex"
)

// The operations that return statistics.
const (
	OpIndexStatistics   Operation = "indexStatistics"
	OpServiceStatistics Operation = "serviceStatistics"
)

// The operations on synonym maps.
const (
	OpCreateSynonymMap         Operation = "createSynonymMap"
	OpCreateOrUpdateSynonymMap Operation = "createOrUpdateSynonymMap"
	OpGetSynonymMap            Operation = "getSynonymMap"
	OpListSynonymMaps          Operation = "listSynonymMaps"
	OpDeleteSynonymMap         Operation = "deleteSynonymMap"
)

// The operations on aliases.
const (
	OpCreateAlias         Operation = "createAlias"
	OpCreateOrUpdateAlias Operation = "createOrUpdateAlias"
	OpGetAlias            Operation = "getAlias"
	OpListAliases         Operation = "listAliases"
	OpDeleteAlias         Operation = "deleteAlias"
)

func init() {
	for _, op := range resources.Operations {
		register(operation{
			name: Operation(op.Name), routes: op.Routes, needs: op.Needs, reads: op.Reads,
			serve: func(s *Server, w http.ResponseWriter, r *http.Request, rt routing.Route, _ *exchange) {
				op.Serve(s.kept, w, r, rt)
			},
		})
	}
}
