package models

import "encoding/json"

// The kinds of Vectorizer.
const (
	VectorizerAzureOpenAI      = "azureOpenAI"
	VectorizerWebAPI           = "customWebApi"
	VectorizerAIServicesVision = "aiServicesVision" // takes api-version 2026-04-01
	VectorizerAML              = "aml"
)

// Vectorizer turns the text of a query into a vector. Exactly the parameters of
// its kind are set.
type Vectorizer struct {
	// Name is what profiles refer to it by.
	Name string `json:"name"`
	// Kind says which of the parameters below are meant.
	Kind string `json:"kind"`
	// AzureOpenAI are the parameters of VectorizerAzureOpenAI.
	AzureOpenAI *AzureOpenAIParameters `json:"azureOpenAIParameters,omitzero"`
	// WebAPI are the parameters of VectorizerWebAPI.
	WebAPI *WebAPIParameters `json:"customWebApiParameters,omitzero"`
	// AIServicesVision are the parameters of VectorizerAIServicesVision.
	AIServicesVision *AIServicesVisionParameters `json:"aiServicesVisionParameters,omitzero"`
	// AML are the parameters of VectorizerAML.
	AML *AMLParameters `json:"amlParameters,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureOpenAIParameters say where an embedding model of Azure OpenAI is.
type AzureOpenAIParameters struct {
	// ResourceURI is the resource, such as "https://name.openai.azure.com".
	ResourceURI string `json:"resourceUri,omitzero"`
	// DeploymentID is the deployment of the model.
	DeploymentID string `json:"deploymentId,omitzero"`
	// APIKey is a key of the resource. The service does not return it. Without
	// one a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is that managed identity. Defaults to the system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// ModelName is the model, such as "text-embedding-3-small".
	ModelName string `json:"modelName,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebAPIParameters say where an API of one's own is that makes vectors.
type WebAPIParameters struct {
	// URI is its address, https only.
	URI string `json:"uri,omitzero"`
	// HTTPHeaders are headers to send.
	HTTPHeaders map[string]string `json:"httpHeaders,omitzero"`
	// HTTPMethod is the method.
	HTTPMethod string `json:"httpMethod,omitzero"`
	// Timeout is an ISO 8601 duration, such as "PT60S". The service defaults to 30
	// seconds.
	Timeout string `json:"timeout,omitzero"`
	// AuthResourceID is the application to get a token for.
	AuthResourceID string `json:"authResourceId,omitzero"`
	// AuthIdentity is the managed identity to get it with. Defaults to the
	// system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesVisionParameters say where Azure AI Vision is.
type AIServicesVisionParameters struct {
	// ModelVersion is the version of the model, such as "2023-04-15".
	ModelVersion string `json:"modelVersion"`
	// ResourceURI is the resource.
	ResourceURI string `json:"resourceUri"`
	// APIKey is a key of the resource. The service does not return it. Without
	// one a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is that managed identity. Defaults to the system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AMLParameters say where a model of the model catalogue is.
type AMLParameters struct {
	// URI is the scoring endpoint.
	URI string `json:"uri,omitzero"`
	// Key is its key. The service does not return it.
	Key string `json:"key,omitzero"`
	// ResourceID is the resource to get a token for, instead of Key.
	ResourceID string `json:"resourceId,omitzero"`
	// Timeout is an ISO 8601 duration, such as "PT60S".
	Timeout string `json:"timeout,omitzero"`
	// Region is the region of the resource.
	Region string `json:"region,omitzero"`
	// ModelName is the model of the catalogue.
	ModelName string `json:"modelName,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
