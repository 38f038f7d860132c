package skills

import (
	"encoding/json"

	"github.com/go-azsearch/azsearch/models"
)

// Skillset enriches the documents of an indexer before they are indexed. It is printed without its
// secrets.
type Skillset struct {
	// Name is the name that indexers refer to.
	Name string `json:"name"`
	// Description is for people.
	Description string `json:"description,omitzero"`
	// Skills are the steps. Their order follows from inputs and outputs, not from the list.
	Skills []Skill `json:"skills"`
	// Account pays for the built-in skills. Without one they stop after some free enrichments.
	Account Account `json:"cognitiveServices,omitzero"`
	// KnowledgeStore keeps enriched documents in a storage account.
	KnowledgeStore *KnowledgeStore `json:"knowledgeStore,omitzero"`
	// IndexProjections make several documents of one, such as the chunks of a text.
	IndexProjections *IndexProjections `json:"indexProjections,omitzero"`
	// EncryptionKey is a customer's key to encrypt the definition with. Once set it cannot be removed.
	EncryptionKey *models.EncryptionKey `json:"encryptionKey,omitzero"`
	// ETag is the version of the definition, quotes included, as the service wrote it.
	ETag string `json:"@odata.etag,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Input is a value that a skill takes.
type Input struct {
	// Name is the parameter of the skill.
	Name string `json:"name"`
	// Source is the path of the value in the enriched document, such as "/document/content", or an
	// expression that begins with "=".
	Source string `json:"source,omitzero"`
	// SourceContext is the level at which Inputs make an object each, in Shaper and projections.
	SourceContext string `json:"sourceContext,omitzero"`
	// Inputs are the members of that object.
	Inputs []Input `json:"inputs,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Output is a value that a skill adds to the enriched document.
type Output struct {
	// Name is the result of the skill.
	Name string `json:"name"`
	// TargetName is the name it gets. Defaults to Name.
	TargetName string `json:"targetName,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// Account is the resource that built-in skills are charged to: DefaultAccount, CognitiveServicesKey,
// AIServicesKey, AIServicesIdentity, or UnknownAccount for what a newer service has.
type Account interface{ account() }

// DefaultAccount is the free allowance of the service.
type DefaultAccount struct {
	// Description is for people.
	Description string `json:"description,omitzero"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// CognitiveServicesKey is a multi-service resource in the region of the service, opened by a key.
type CognitiveServicesKey struct {
	// Description is for people.
	Description string `json:"description,omitzero"`
	// Key is a key of the resource.
	Key string `json:"key" empty:"null"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesKey is an Azure AI services resource in any region, opened by a key. It needs api-version
// 2026-04-01 or a preview that has it.
type AIServicesKey struct {
	// Description is for people.
	Description string `json:"description,omitzero"`
	// Key is a key of the resource.
	Key string `json:"key" empty:"null"`
	// SubdomainURL is the address of the resource.
	SubdomainURL string `json:"subdomainUrl"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// AIServicesIdentity is an Azure AI services resource, opened by a managed identity. It needs
// api-version 2026-04-01 or a preview that has it.
type AIServicesIdentity struct {
	// Description is for people.
	Description string `json:"description,omitzero"`
	// Identity is the user-assigned identity. Defaults to the system-assigned one.
	Identity *models.DataIdentity `json:"identity,omitzero"`
	// SubdomainURL is the address of the resource.
	SubdomainURL string `json:"subdomainUrl"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}

// UnknownAccount is an account of a type that this library does not know. It is written back as it was
// read.
type UnknownAccount struct {
	// Type is its @odata.type.
	Type string `json:"@odata.type"`
	// AdditionalProperties are the members this library does not know.
	AdditionalProperties map[string]json.RawMessage `json:"-"`
}
