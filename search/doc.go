// Package search is the client of Azure AI Search: it manages the indexes of a service and reads and writes their
// documents, one request per call. To write many documents use package bufferedsender, which batches, retries and
// accounts for every document through a Client of this package. To test without a service use package
// search/searchtest. The package is stable.
//
// There are four clients. IndexClient manages indexes, aliases, synonym maps, knowledge sources and knowledge bases.
// IndexerClient manages data sources, indexers and skillsets. Client reads and writes the documents of one index.
// KnowledgeBaseClient asks one knowledge base. Make each with an API key (NewClientWithKey) or with Entra ID
// (NewClient and any azcore.TokenCredential). All are safe for concurrent use. Generic operations are functions that
// take the Client as an argument, because a method of Go cannot have type parameters.
//
//	client, err := search.NewClientWithKey("https://my-service.search.windows.net", "hotels",
//		azcore.NewKeyCredential(key), nil)
//	…
//	_, err = search.UploadDocuments(ctx, client, []Hotel{{ID: "1", Name: "Fancy Stay"}}, nil)
//	hotel, err := search.GetDocument[Hotel](ctx, client, "1", nil)
//	for result, err := range search.Search[Hotel](ctx, client, "wifi", &search.SearchOptions{Filter: search.Ge("rating", 4)}) {
//		…
//	}
//
// # Queries
//
// Search iterates over all pages of a result; NewSearchPager returns single pages with their facets and counts.
// Suggest and Autocomplete complete what a user types. Scan iterates over a whole index, beyond the 100 000 results
// at which the service stops paging; ScanKeys iterates over its keys. DeleteMatching deletes the documents that match
// a filter, whatever attributes the key field has. Build a Filter with functions or with Filterf: both quote every
// value, so that no value can change the filter. EscapeText does the same for search text. If options contradict each
// other, or the api-version lacks them, nothing is sent and one *InvalidQueryError lists all problems.
//
// # Indexers and knowledge
//
// Data sources, indexers and skillsets are created, read, listed and deleted like indexes, with ETags and conditions.
// The service never returns a connection string; a data source that is read and written back keeps its own.
// WaitForIndexer runs an indexer, or waits for the run that CreateIndexer starts, and returns its failures. Retrieve
// asks a knowledge base; RetrieveStream returns the parts of the reply as they arrive. Types with secrets print and
// log *** in their place; for the exceptions see package models/indexers.
//
// Every operation of the stable api-versions since 2025-09-01 has a function, except queries as GET, and every
// property has a field: go run ./internal/spec/report, in the repository, counts them per version. Do sends any other
// operation, for example one of a preview.
//
// # Coming from another SDK
//
//	.NET, Java and Python                             here
//	SearchClient                                      Client
//	SearchIndexClient                                 IndexClient
//	SearchIndexerClient                               IndexerClient
//	KnowledgeBaseRetrievalClient                      KnowledgeBaseClient
//	SearchIndexingBufferedSender                      bufferedsender.BufferedSender
//	SearchIndexerDataSourceConnection                 indexers.DataSource
//	SearchIndexer, SearchIndexerStatus                indexers.Indexer, indexers.Status
//	SearchIndexerSkillset, SplitSkill and others      skills.Skillset, skills.Split and others
//	KnowledgeSource, KnowledgeBase                    knowledge.Source, knowledge.Base
//	RequestFailedException (.NET)                     *Error
//	HttpResponseException (Java)                      *Error
//	HttpResponseError (Python)                        *Error
//	onlyIfUnchanged, match_condition                  IfMatch, the default for what was read
//
// Calls of the SDK for Python and their counterparts here, each with an example:
//
//	Python                                            here
//	SearchClient(…, AzureKeyCredential)               NewClientWithKey
//	SearchClient(…, DefaultAzureCredential)           NewClient
//	search                                            Search
//	search, by_page                                   NewSearchPager
//	search, filter                                    Filterf, Eq, In
//	search, facets                                    FacetByValue, FacetByRange
//	search, order_by geo.distance                     GeoDistance
//	search, scoring_parameters                        ScoringParameter, ScoringPoint
//	search, query_type full                           EscapeText
//	search, query_type semantic                       SemanticOptions
//	search, vector_queries                            VectorQuery
//	suggest                                           Suggest
//	autocomplete                                      Autocomplete
//	get_document                                      GetDocument
//	get_document_count                                DocumentCount
//	upload_documents                                  UploadDocuments
//	merge_documents                                   MergeDocuments
//	merge_or_upload_documents                         MergeOrUploadDocuments
//	delete_documents                                  DeleteDocuments, DeleteDocumentsByKey
//	index_documents                                   IndexDocuments
//	create_index                                      CreateIndex
//	create_or_update_index                            UpdateIndex, CreateOrUpdateIndex
//	get_index, delete_index                           GetIndex, DeleteIndex
//	list_indexes, list_index_names                    ListIndexes, ListIndexNames
//	get_index_statistics                              GetIndexStatistics
//	get_service_statistics                            GetServiceStatistics
//	analyze_text                                      AnalyzeText
//	create_or_update_alias, get_alias                 CreateOrUpdateAlias, GetAlias
//	create_synonym_map, create_or_update_…            CreateSynonymMap, UpdateSynonymMap
//	create_or_update_data_source_connection           CreateOrUpdateDataSource
//	create_or_update_skillset, reset_skills           CreateOrUpdateSkillset, ResetSkills
//	create_or_update_indexer, reset_indexer           CreateOrUpdateIndexer, ResetIndexer
//	run_indexer, get_indexer_status                   RunIndexer, GetIndexerStatus
//	create_or_update_knowledge_source                 CreateKnowledgeSource
//	create_or_update_knowledge_base, retrieve         CreateOrUpdateKnowledgeBase, Retrieve
//	send_request                                      Do
//
// # Errors
//
// A reply that refuses a request is an *Error with the service's message, code and request id, and a hint about the
// key, role or index that is missing. errors.As also finds *azcore.ResponseError in it; errors.Is finds
// ErrIndexNotFound, ErrDocumentNotFound, ErrPreconditionFailed and so on. If the service replied but did not index
// every document, the error is an *IndexingError that lists the failed ones. Arguments are checked before a request
// is made, and all problems are reported together. Errors and logs contain no credentials and no fields of documents,
// but may contain their keys.
//
// # Before anything is sent
//
// The functions that make clients check their arguments, including the API key, and send nothing. Check asks the
// service whether a program can work with an index: endpoint, credential, roles, index, and the fields of a document
// type. Client.Ping asks whether the service replies for an index now. CheckDefinition reports, without a request, what
// the service would refuse in a data source, skillset or indexer.
//
// # Options of a single call
//
// azcore's options for one call work with every method: policy.WithRetryOptions, policy.WithHTTPHeader and
// policy.WithCaptureResponse from azcore/policy. models.WithClientRequestID sets the id under which the service logs
// the request. WithUserToken and WithElevatedRead choose the user for whom permission filters trim the results.
//
// # Metrics
//
// Queries and other operations on documents are measured for OpenTelemetry if ClientOptions.MeterProvider or a global
// provider is set: count, duration, failures by cause, and number of results. TELEMETRY.md in this folder lists the
// instruments. For spans set the embedded option TracingProvider.
//
// The clients are not affiliated with Microsoft.
package search
