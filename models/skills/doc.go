// Package skills is for programs that enrich documents while an indexer of Azure AI Search reads them:
// it holds skillsets, their skills, and what is projected out of enriched documents.
// The package is experimental: its API may change in any release.
//
// A [Skillset] is a list of skills, each a type of this package: [Split], [WebAPI],
// [AzureOpenAIEmbedding] and so on. A skill reads paths of the enriched document by its Inputs, such
// as "/document/content", and adds values to it by its Outputs.
//
//	skills.Split{
//		Context: "/document", MaximumPageLength: new(2000),
//		Inputs:  []skills.Input{{Name: "text", Source: "/document/content"}},
//		Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}},
//	}
//
// The output mappings of an indexer, or [IndexProjections], bring them to an index. Languages are codes
// such as "en"; the documentation of the service lists those of each skill.
//
// As in package models, nil and empty members are left out, so that the service's defaults apply, and
// members that this library does not know survive in AdditionalProperties. What holds secrets is
// printed and logged as JSON with *** in their place; encoding/json writes them.
package skills
