package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// AzureOpenAIEmbedding computes vectors: input text; output embedding.
type AzureOpenAIEmbedding struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// ResourceURI is the URL of the resource, such as "https://name.openai.azure.com".
	ResourceURI string `json:"resourceUri,omitzero"`
	// DeploymentID is the deployment of the model.
	DeploymentID string `json:"deploymentId,omitzero"`
	// APIKey is a key of the resource. If it is empty, AuthIdentity is used.
	// Set it again when the skill was read.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is the managed identity for the resource. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// ModelName is the model, such as "text-embedding-3-small".
	ModelName string `json:"modelName,omitzero"`
	// Dimensions is the length of the vectors, for models with a configurable length.
	Dimensions *int `json:"dimensions,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ChatCompletion calls a chat completion model: inputs systemMessage, userMessage, image; output response. It needs
// api-version 2026-04-01 or a preview that has it.
type ChatCompletion struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// URI is the URL of the model. Only its host is printed.
	URI string `json:"uri"`
	// APIKey is a key of the model. If it is empty, AuthIdentity is used.
	// Set it again when the skill was read.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is the managed identity for the model. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// CommonModelParameters are parameters that most models support.
	CommonModelParameters *ModelParameters `json:"commonModelParameters,omitzero"`
	// ExtraParameters are further parameters.
	ExtraParameters map[string]any `json:"extraParameters,omitzero"`
	// ExtraParametersBehavior selects the treatment of parameters that the model does not support. The service defaults
	// to ExtraParametersBehaviorError.
	ExtraParametersBehavior ExtraParametersBehavior `json:"extraParametersBehavior,omitzero"`
	// ResponseFormat is the format of the answer. The service defaults to text.
	ResponseFormat *ResponseFormat `json:"responseFormat,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ModelParameters are the parameters that most chat completion models support.
type ModelParameters struct {
	// Model is the name of the model.
	Model string `json:"model,omitzero"`
	// FrequencyPenalty reduces repetition, -2 to 2.
	FrequencyPenalty *float64 `json:"frequencyPenalty,omitzero"`
	// PresencePenalty favours new topics, -2 to 2.
	PresencePenalty *float64 `json:"presencePenalty,omitzero"`
	// MaxTokens limits the length of the answer.
	MaxTokens *int `json:"maxTokens,omitzero"`
	// Temperature is the randomness, 0 to 2.
	Temperature *float64 `json:"temperature,omitzero"`
	// Seed makes answers repeatable.
	Seed *int64 `json:"seed,omitzero"`
	// Stop are texts at which an answer ends.
	Stop []string `json:"stop,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExtraParametersBehavior is the treatment of parameters that a model does not support.
type ExtraParametersBehavior string

// The known values of ExtraParametersBehavior.
const (
	ExtraParametersBehaviorPassThrough ExtraParametersBehavior = "passThrough"
	ExtraParametersBehaviorDrop        ExtraParametersBehavior = "drop"
	ExtraParametersBehaviorError       ExtraParametersBehavior = "error"
)

// ResponseFormat is the format of an answer.
type ResponseFormat struct {
	// Type is the kind of format.
	Type ResponseFormatType `json:"type,omitzero"`
	// JSONSchema is the schema of the answer, for ResponseFormatTypeJSONSchema.
	JSONSchema *ResponseSchema `json:"jsonSchemaProperties,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ResponseFormatType is a kind of format.
type ResponseFormatType string

// The known values of ResponseFormatType.
const (
	ResponseFormatTypeText       ResponseFormatType = "text"
	ResponseFormatTypeJSONObject ResponseFormatType = "jsonObject"
	ResponseFormatTypeJSONSchema ResponseFormatType = "jsonSchema"
)

// ResponseSchema is a named JSON schema.
type ResponseSchema struct {
	// Name is the name of the schema.
	Name string `json:"name,omitzero"`
	// Description is text for the model.
	Description string `json:"description,omitzero"`
	// Strict forces the model to follow the schema. The service defaults to true.
	Strict *bool `json:"strict,omitzero"`
	// Schema is the schema.
	Schema *JSONSchema `json:"schema,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// JSONSchema is a schema of an object.
type JSONSchema struct {
	// Type is "object".
	Type string `json:"type,omitzero"`
	// Properties are the members of the object, as JSON in a string.
	Properties string `json:"properties,omitzero"`
	// Required are the names of required members.
	Required []string `json:"required,omitzero"`
	// AllowAdditional permits members that are not in Properties.
	AllowAdditional *bool `json:"additionalProperties,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
