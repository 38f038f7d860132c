// Package skills holds skillsets and skills, which enrich documents while an indexer of Azure AI Search reads them,
// and projections of enriched documents. The package is experimental: its API may change in any release.
//
// A [Skillset] is a list of skills, each a type of this package: [Split], [WebAPI], [AzureOpenAIEmbedding] and so on.
// The Inputs of a skill are paths of the enriched document, such as "/document/content". Its Outputs are added to the
// document.
//
//	skills.Split{
//		Context: "/document", MaximumPageLength: new(2000),
//		Inputs:  []skills.Input{{Name: "text", Source: "/document/content"}},
//		Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}},
//	}
//
// The output mappings of an indexer, or [IndexProjections], write outputs to an index. Languages are codes such as
// "en"; the documentation of the service lists those of each skill.
//
// As in package models, nil and empty members are omitted, so that the service's defaults apply, and unknown members
// are kept in AdditionalProperties. Types with secrets print and log *** in their place.
// encoding/json encodes the secrets, because requests are made of it, and so does the JSON handler of log/slog for
// slices, maps and structs that hold such types. fmt cannot mask values in unexported fields of other structs.
package skills
