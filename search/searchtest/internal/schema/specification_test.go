package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/internal/spec"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
)

// notEmulated has the members of the specification that a shape lacks, each with the reason.
var notEmulated = map[string]string{
	"SearchIndex.@odata.etag":                           "of every kind of definition, read by package searchtest",
	"VectorSearchCompression.defaultOversampling":       "the package of 2025-09-01 says that it is for 2024-07-01 only",
	"VectorSearchCompression.rerankWithOriginalVectors": "the same",
}

// The test compares the members of shapes with those of models in each stable version.
func TestDefinitionsHaveWhatTheSpecificationHas(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	nested := func(sh *shape.Shape, name string) *shape.Shape { return sh.Members[sh.Index(name)].Shape() }
	vectorizer := nested(&vectorSearchShape, "vectorizers")
	semantic := nested(&semanticShape, "configurations")
	for model, sh := range map[string]*shape.Shape{
		"SearchIndex": &Shape, "SearchField": &fieldShape, "CorsOptions": &corsShape, "SearchSuggester": &suggesterShape,
		"SearchResourceEncryptionKey": &EncryptionKey, "AzureActiveDirectoryApplicationCredentials": nested(&EncryptionKey, "accessCredentials"),
		"ScoringProfile": &scoringProfileShape, "SemanticSearch": &semanticShape, "SemanticConfiguration": semantic,
		"SemanticPrioritizedFields": nested(semantic, "prioritizedFields"), "SemanticField": &semanticFieldShape,
		"VectorSearch": &vectorSearchShape, "VectorSearchProfile": nested(&vectorSearchShape, "profiles"),
		"HnswParameters": &hnswShape, "ExhaustiveKnnParameters": &exhaustiveKnnShape, "ScalarQuantizationParameters": &scalarQuantizationShape,
		"AzureOpenAIVectorizerParameters": nested(vectorizer, "azureOpenAIParameters"), "WebApiVectorizerParameters": nested(vectorizer, "customWebApiParameters"),
		"VectorSearchCompression": nested(&vectorSearchShape, "compressions"), "RescoringOptions": nested(nested(&vectorSearchShape, "compressions"), "rescoringOptions"),
	} {
		m, known := s.Models[model]
		if !assert.True(t, known, model) {
			continue
		}
		for wire, p := range m.Properties {
			for _, name := range s.Names(p.In()) {
				if strings.Contains(name, "preview") || notEmulated[model+"."+wire] != "" {
					continue
				}
				i, version := sh.Index(wire), apiversion.Of(name)
				assert.True(t, i >= 0 && version.Has(sh.Members[i].Needs), "%s: %s.%s is not taken", name, model, wire)
			}
		}
	}
	for item, reason := range notEmulated {
		model, wire, _ := strings.Cut(item, ".")
		_, is := s.Models[model].Properties[wire]
		assert.True(t, is && reason != "", item)
	}
	assert.True(t, slices.Contains(s.Versions, apiversion.Default), "the newest stable version is compared")
}
