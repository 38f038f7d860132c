package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// AzureOpenAIEmbedding makes vectors: input text; output embedding.
type AzureOpenAIEmbedding struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// ResourceURI is the resource, such as "https://name.openai.azure.com".
	ResourceURI string `json:"resourceUri,omitzero"`
	// DeploymentID is the deployment of the model.
	DeploymentID string `json:"deploymentId,omitzero"`
	// APIKey is a key of the resource. Without one a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is that managed identity. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// ModelName is the model, such as "text-embedding-3-small".
	ModelName string `json:"modelName,omitzero"`
	// Dimensions is the length of the vectors, for models that let it be chosen.
	Dimensions *int `json:"dimensions,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ChatCompletion asks a chat completion model: inputs systemMessage, userMessage, image; output
// response. It needs api-version 2026-04-01 or a preview that has it.
type ChatCompletion struct {
	// These are the members of every skill; Skill explains them.
	Name        string   `json:"name,omitzero"`
	Description string   `json:"description,omitzero"`
	Context     string   `json:"context,omitzero"`
	Inputs      []Input  `json:"inputs"`
	Outputs     []Output `json:"outputs"`
	// URI is the address of the model. Of what is printed only its host stays.
	URI string `json:"uri"`
	// APIKey is a key of the model. Without one a managed identity is used.
	APIKey string `json:"apiKey,omitzero"`
	// AuthIdentity is that managed identity. Defaults to the system-assigned one.
	AuthIdentity *models.DataIdentity `json:"authIdentity,omitzero"`
	// CommonModelParameters are those that most models know.
	CommonModelParameters *ModelParameters `json:"commonModelParameters,omitzero"`
	// ExtraParameters are further ones.
	ExtraParameters map[string]any `json:"extraParameters,omitzero"`
	// ExtraParametersBehavior says what happens to parameters that the model does not know. The service
	// defaults to ExtraParametersBehaviorError.
	ExtraParametersBehavior ExtraParametersBehavior `json:"extraParametersBehavior,omitzero"`
	// ResponseFormat is the form of the answer. The service defaults to text.
	ResponseFormat *ResponseFormat `json:"responseFormat,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ModelParameters are the parameters that most chat completion models know.
type ModelParameters struct {
	// Model is the model.
	Model string `json:"model,omitzero"`
	// FrequencyPenalty makes repetition rarer, -2 to 2.
	FrequencyPenalty *float64 `json:"frequencyPenalty,omitzero"`
	// PresencePenalty makes new topics likelier, -2 to 2.
	PresencePenalty *float64 `json:"presencePenalty,omitzero"`
	// MaxTokens limits the answer.
	MaxTokens *int `json:"maxTokens,omitzero"`
	// Temperature is the randomness, 0 to 2.
	Temperature *float64 `json:"temperature,omitzero"`
	// Seed makes answers repeatable.
	Seed *int64 `json:"seed,omitzero"`
	// Stop are texts that end an answer.
	Stop []string `json:"stop,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ExtraParametersBehavior says what happens to parameters that a model does not know.
type ExtraParametersBehavior string

// The known values of ExtraParametersBehavior.
const (
	ExtraParametersBehaviorPassThrough ExtraParametersBehavior = "passThrough"
	ExtraParametersBehaviorDrop        ExtraParametersBehavior = "drop"
	ExtraParametersBehaviorError       ExtraParametersBehavior = "error"
)

// ResponseFormat is the form of an answer.
type ResponseFormat struct {
	// Type is the kind of form.
	Type ResponseFormatType `json:"type,omitzero"`
	// JSONSchema is the form, for ResponseFormatTypeJSONSchema.
	JSONSchema *ResponseSchema `json:"jsonSchemaProperties,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// ResponseFormatType is a kind of answer.
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
	// Description is for the model.
	Description string `json:"description,omitzero"`
	// Strict makes the model keep to the schema. The service defaults to true.
	Strict *bool `json:"strict,omitzero"`
	// Schema is the schema.
	Schema *JSONSchema `json:"schema,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// JSONSchema is a schema of an object.
type JSONSchema struct {
	// Type is "object".
	Type string `json:"type,omitzero"`
	// Properties are the members, as JSON in a string.
	Properties string `json:"properties,omitzero"`
	// Required are the members that must be there.
	Required []string `json:"required,omitzero"`
	// AllowAdditional permits further members.
	AllowAdditional *bool `json:"additionalProperties,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
