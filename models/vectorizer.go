package models

import "encoding/json"

// The kinds of Vectorizer.
const (
	VectorizerAzureOpenAI      = "azureOpenAI"
	VectorizerWebAPI           = "customWebApi"
	VectorizerAIServicesVision = "aiServicesVision" // needs api-version 2026-04-01
	VectorizerAML              = "aml"
)

// Vectorizer converts the text of a query to a vector. Set exactly the parameters of its kind.
type Vectorizer struct {
	// Name is the name by which profiles refer to the vectorizer.
	Name string `json:"name"`
	// Kind selects which of the parameters below apply.
	Kind string `json:"kind"`
	// AzureOpenAI are the parameters of VectorizerAzureOpenAI.
	AzureOpenAI *AzureOpenAIParameters `json:"azureOpenAIParameters,omitzero"`
	// WebAPI are the parameters of VectorizerWebAPI.
	WebAPI *WebAPIParameters `json:"customWebApiParameters,omitzero"`
	// AIServicesVision are the parameters of VectorizerAIServicesVision.
	AIServicesVision *AIServicesVisionParameters `json:"aiServicesVisionParameters,omitzero"`
	// AML are the parameters of VectorizerAML.
	AML *AMLParameters `json:"amlParameters,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AzureOpenAIParameters locate an embedding model of Azure OpenAI.
type AzureOpenAIParameters struct {
	// ResourceURI is the URL of the resource, such as "https://name.openai.azure.com".
	ResourceURI string `json:"resourceUri,omitzero"`
	// DeploymentID is the deployment of the model.
	DeploymentID string `json:"deploymentId,omitzero"`
	// APIKey is a key of the resource. The service returns "<redacted>" or nothing for it; whether an update with that
	// keeps the stored key is not documented, so set it in every update. If it is empty, AuthIdentity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is the managed identity for the resource. Defaults to the system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// ModelName is the name of the model, such as "text-embedding-3-small".
	ModelName string `json:"modelName,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// WebAPIParameters locate a custom web API that computes vectors.
type WebAPIParameters struct {
	// URI is the URL of the API, https only.
	URI string `json:"uri,omitzero"`
	// HTTPHeaders are additional request headers.
	HTTPHeaders map[string]string `json:"httpHeaders,omitzero"`
	// HTTPMethod is the request method.
	HTTPMethod string `json:"httpMethod,omitzero"`
	// Timeout is the time limit of a call, an ISO 8601 duration such as "PT60S". The service defaults to 30 seconds.
	Timeout string `json:"timeout,omitzero"`
	// AuthResourceID is the application for which a token is requested.
	AuthResourceID string `json:"authResourceId,omitzero"`
	// AuthIdentity is the managed identity that requests the token. Defaults to the system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesVisionParameters locate an Azure AI Vision model.
type AIServicesVisionParameters struct {
	// ModelVersion is the version of the model, such as "2023-04-15".
	ModelVersion string `json:"modelVersion"`
	// ResourceURI is the URL of the resource.
	ResourceURI string `json:"resourceUri"`
	// APIKey is a key of the resource. The service returns "<redacted>" or nothing for it; whether an update with that
	// keeps the stored key is not documented, so set it in every update. If it is empty, AuthIdentity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is the managed identity for the resource. Defaults to the system-assigned one.
	AuthIdentity *DataIdentity `json:"authIdentity,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AMLParameters locate a model of the model catalogue.
type AMLParameters struct {
	// URI is the URL of the scoring endpoint.
	URI string `json:"uri,omitzero"`
	// Key is a key of the endpoint. The service does not return it.
	Key string `json:"key,omitzero"`
	// ResourceID is the resource for which a token is requested, instead of Key.
	ResourceID string `json:"resourceId,omitzero"`
	// Timeout is the time limit of a call, an ISO 8601 duration such as "PT60S".
	Timeout string `json:"timeout,omitzero"`
	// Region is the region of the resource.
	Region string `json:"region,omitzero"`
	// ModelName is the name of the model in the catalogue.
	ModelName string `json:"modelName,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
