package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Skillset enriches the documents of an indexer before they are indexed. It is printed without its
// secrets.
type Skillset struct {
	// Name is the name by which indexers refer to the skillset.
	Name string `json:"name"`
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Skills are the steps. The service orders them by their inputs and outputs, not by the list.
	Skills []Skill `json:"skills"`
	// Account is charged for the built-in skills. Without an account they stop after a number of free enrichments.
	Account Account `json:"cognitiveServices,omitzero"`
	// KnowledgeStore stores enriched documents in a storage account.
	KnowledgeStore *KnowledgeStore `json:"knowledgeStore,omitzero"`
	// IndexProjections make several index documents from one document, such as the chunks of a text.
	IndexProjections *IndexProjections `json:"indexProjections,omitzero"`
	// EncryptionKey is a customer-managed key that encrypts the definition. It cannot be removed later.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, in the service's notation with quotes.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Input is an input of a skill.
type Input struct {
	// Name is the name of the skill's parameter.
	Name string `json:"name"`
	// Source is the path of the value in the enriched document, such as "/document/content", or an
	// expression that begins with "=".
	Source string `json:"source,omitzero"`
	// SourceContext is the path of the nodes that become one object each, in Shaper and projections.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are the members of each object.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Output is a result of a skill that is added to the enriched document.
type Output struct {
	// Name is the name of the skill's result.
	Name string `json:"name"`
	// TargetName is the name in the enriched document. Defaults to Name.
	TargetName string `json:"targetName,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Account is the resource that is charged for built-in skills: DefaultAccount, CognitiveServicesKey, AIServicesKey,
// AIServicesIdentity, or UnknownAccount for an unknown type.
type Account interface{ account() }

// DefaultAccount is the free allowance of the service.
type DefaultAccount struct {
	// Description is free text.
	Description string `json:"description,omitzero"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CognitiveServicesKey is a multi-service resource in the region of the service, accessed with a key.
type CognitiveServicesKey struct {
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Key is a key of the resource.
	Key string `json:"key" empty:"null"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesKey is an Azure AI services resource in any region, accessed with a key. It needs api-version 2026-04-01
// or a preview that has it.
type AIServicesKey struct {
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Key is a key of the resource.
	Key string `json:"key" empty:"null"`
	// SubdomainURL is the URL of the resource.
	SubdomainURL string `json:"subdomainUrl"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesIdentity is an Azure AI services resource, accessed with a managed identity. It needs api-version
// 2026-04-01 or a preview that has it.
type AIServicesIdentity struct {
	// Description is free text.
	Description string `json:"description,omitzero"`
	// Identity is the user-assigned identity. Defaults to the system-assigned one.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// SubdomainURL is the URL of the resource.
	SubdomainURL string `json:"subdomainUrl"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownAccount is an account of an unknown type. It is written back unchanged.
type UnknownAccount struct {
	// Type is the @odata.type of the account.
	Type string `json:"@odata.type"`
	// AdditionalProperties are the JSON members that have no field.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
