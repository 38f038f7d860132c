package searchtest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each definition is published by the vendor, in manuals or programs.
func TestPublishedDefinitionsAreTaken(t *testing.T) {
	const vectors = `"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}`
	field := func(more string) string {
		return `{"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"v","type":"Collection(Edm.Single)","dimensions":2,"vectorSearchProfile":"p"` + more + `}],` + vectors + `}`
	}
	p := newProbe(t, nil)
	put := func(name, version, body string) answered {
		return p.send(http.MethodPut, "/indexes/"+name+"?api-version="+version, body)
	}
	// The definition has no name, and its vector field neither searchable nor retrievable. retrievable is true by
	// default up to 2023-11-01. Semantic Kernel's memory store sends such definitions.
	for version, retrievable := range map[string]string{"2023-10-01-preview": "true", "2023-11-01": "true", "2024-03-01-preview": "false", "2024-07-01": "false", "2026-10-01": "false"} {
		name := "v" + strings.ReplaceAll(version, "-", "")
		a := put(name, version, field(""))
		require.Equal(t, http.StatusCreated, a.status, a.body)
		assert.Contains(t, a.body, `"name":"`+name+`"`)
		assert.Contains(t, a.body, `"type":"Collection(Edm.Single)","searchable":true,"filterable":false,"retrievable":`+retrievable, version)
	}
	old := "/indexes/v20231101/docs/search?api-version=2023-11-01"
	require.Equal(t, http.StatusOK, p.send(http.MethodPost, "/indexes/v20231101/docs/index", `{"value":[{"id":"1","v":[1,2]}]}`).status)
	assert.Contains(t, p.send(http.MethodPost, old, `{"search":"*","select":"id,v"}`).body, `"v":[1.0,2.0]`)
	for name, body := range map[string]string{"a null for a name": `{"name":null,` + field("")[1:], "another name": `{"name":"other",` + field("")[1:], "no object": `[]`, "nothing": ``} {
		assert.Equal(t, http.StatusBadRequest, put("aa", "2026-04-01", body).status, name)
	}
	assert.Equal(t, http.StatusBadRequest, put("aa", "2026-04-01", field(`,"searchable":false`)).status)

	// Permission filters in versions that have them.
	const permissions = `{"permissionFilterOption":"enabled","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"users","type":"Collection(Edm.String)","permissionFilter":"userIds"},{"name":"scope","type":"Edm.String","permissionFilter":"rbacScope","filterable":true}]}`
	for version, status := range map[string]int{"2025-05-01-preview": 201, "2025-11-01-preview": 201, "2026-10-01": 201, "2026-04-01": 400, "2025-09-01": 400} {
		a := put("p"+strings.ReplaceAll(version, "-", ""), version, permissions)
		assert.Equal(t, status, a.status, "%s: %s", version, a.body)
		if status == http.StatusCreated {
			assert.Contains(t, a.body, `"permissionFilter":"userIds"`)
			assert.Contains(t, a.body, `"permissionFilterOption":"enabled"`)
		}
	}
	put("aa", "2026-10-01", strings.Replace(permissions, `"Collection(Edm.String)"`, `"Edm.Int32"`, 1)).refuses(t, http.StatusBadRequest, "cannot have a permission filter")
	put("aa", "2026-10-01", strings.Replace(permissions, `"filterable":true`, `"filterable":false`, 1)).refuses(t, http.StatusBadRequest, "cannot have a permission filter")

	// Vectorizers of Azure AI Vision and Azure Machine Learning, in previews.
	vectorizers := strings.Replace(field(""), `"vectorSearch":{`, `"vectorSearch":{"vectorizers":[
		{"name":"see","kind":"aiServicesVision","aiServicesVisionParameters":{"modelVersion":"2023-04-15","resourceUri":"https://x","apiKey":"hush"}},
		{"name":"ml","kind":"aml","amlParameters":{"uri":"https://y","key":"hush"}}],`, 1)
	a := put("see", "2026-08-01-preview", vectorizers)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	assert.NotContains(t, a.body, "hush")
	assert.Equal(t, http.StatusBadRequest, put("stable", "2026-04-01", vectorizers).status)
	put("stable", "2026-04-01", strings.Replace(field(""), `"vectorSearch":{`, `"vectorSearch":{"vectorizers":[{"name":"ml","kind":"aml"}],`, 1)).refuses(t, http.StatusBadRequest, "The value 'aml' of the property 'kind' is not valid")
}
