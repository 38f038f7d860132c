// Package search is for programs that talk to Azure AI Search: it manages the
// indexes of a service and reads and writes the documents in them, one request
// a call. To get many documents into an index use package bufferedsender, which
// batches, retries and accounts for every document, on top of a Client of this
// package. To test without a service use package search/searchtest.
// The package is stable.
//
// An IndexClient is for the definitions of a service, an IndexerClient for what fills
// indexes inside of it, a Client for the documents of one index, a
// KnowledgeBaseClient for the questions to one knowledge base. All are made with an
// API key (NewClientWithKey) or with Entra ID (NewClient and any
// azcore.TokenCredential), and all are safe for concurrent use. Functions that are
// generic take the Client as an argument: Go has no generic methods.
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
// Search walks over all pages of a result, NewSearchPager shows them one by one
// with their facets and counts. Suggest and Autocomplete complete what a user
// types. Scan walks over a whole index, beyond the 100 000 results at which the
// service stops, ScanKeys over the keys in it. DeleteMatching deletes what meets a
// filter, whatever the key field can do. A Filter is built of functions or
// with Filterf; either way no value can break out of its place, and EscapeText does
// the same for what is searched for. Options that contradict one another, or that the
// api-version does not have, are reported before anything is sent, all at once, as
// an *InvalidQueryError.
//
// # Indexers and knowledge
//
// Data sources, indexers and skillsets are created, read, listed and deleted like
// indexes, with ETags and conditions. A connection string is never returned by the
// service; a data source that was read and is written back keeps it. WaitForIndexer
// runs an indexer and returns what failed. Retrieve asks a knowledge base, and
// RetrieveStream shows the answer as it is made. What holds secrets is printed and
// logged with *** in their place.
//
// Every operation of the stable api-versions since 2025-09-01 has a function, queries as GET excepted,
// and every property a field: go run ./internal/spec/report, in the repository, counts them per version.
// Do sends any other operation, of a preview for example.
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
// What the programs of the SDK for Python call, and what stands for it here, each with an example:
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
// An answer that refuses a request is an *Error: the service's own message,
// code and request id, and a hint about which key, role or index is missing.
// errors.As finds *azcore.ResponseError in it too, and errors.Is
// ErrIndexNotFound, ErrDocumentNotFound, ErrPreconditionFailed and their like. A request
// that was answered but did not index every document is an *IndexingError that
// names those it did not. Everything that can be checked before a request is
// made is checked, and all problems are reported at once. No error and no log
// holds credentials or fields of documents; their keys can appear.
//
// # Before anything is sent
//
// The functions that make clients check their arguments, the API key among them,
// and send nothing. Check asks the service whether a program can work with an
// index: endpoint, credential, roles, index, and the fields of a document type.
// Client.Ping asks whether the service answers for an index now.
//
// # Options of a single call
//
// azcore's ways of saying something about one call work with every method:
// policy.WithRetryOptions, policy.WithHTTPHeader and policy.WithCaptureResponse
// from azcore/policy, and models.WithClientRequestID for the id under
// which the service logs the request. WithUserToken and WithElevatedRead say for whom
// permission filters trim the results.
//
// # Metrics
//
// Queries and other operations on documents are measured for OpenTelemetry, if
// ClientOptions.MeterProvider or a global provider is set: how many, how long, how
// many failed and why, how many results. TELEMETRY.md in this folder lists them.
// For spans set the embedded option TracingProvider.
//
// The clients are not affiliated with Microsoft.
package search
