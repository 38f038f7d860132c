package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestIndexIsNamedAfterItsInputWherePossible(t *testing.T) {
	for of, want := range map[string][2]string{
		"Hotels in Rome.2024.csv.gz":   {"hotels-in-rome", "derived from the name of the first file"},
		"a/b--c_.csv":                  {"b-c", "derived from the name of the first file"},
		"t.csv":                        {"documents", `because an index cannot be named "t"`},
		"отели.csv":                    {"documents", `because an index cannot be named "отели"`},
		"-":                            {"documents", "because the standard input has no name"},
		"sqlite:/tmp/shop.db":          {"shop", "derived from the name of the database"},
		"postgres://app@db:5432/shop2": {"shop2", "derived from the name of the database"},
	} {
		name, why := indexName(of)
		assert.Equal(t, want, [2]string{name, why}, of)
		assert.NoError(t, search.CheckDefinition(models.SearchIndex{Name: name, Fields: []models.SearchField{{Name: "id", Type: "Edm.String", Key: new(true)}}}, search.Definitions{}), of)
	}
	name, _ := indexName(strings.Repeat("a", 127) + "-b.csv")
	assert.Len(t, name, 127)
}
