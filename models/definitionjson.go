package models

// The methods of every object of an index definition: see object.go.

// MarshalJSON implements json.Marshaler.
func (x SearchIndex) MarshalJSON() ([]byte, error) { return x.encode() }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchIndex) UnmarshalJSON(b []byte) error { return x.decode(b) }

// MarshalJSON implements json.Marshaler.
func (x CORSOptions) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *CORSOptions) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Suggester) MarshalJSON() ([]byte, error) { return x.encode() }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Suggester) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x EncryptionKey) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *EncryptionKey) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ApplicationCredentials) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ApplicationCredentials) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DataIdentity) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DataIdentity) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SharePointApp) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SharePointApp) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Similarity) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Similarity) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SearchField) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SearchField) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ScoringProfile) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ScoringProfile) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x TextWeights) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *TextWeights) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ScoringFunction) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ScoringFunction) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x FreshnessParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *FreshnessParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x MagnitudeParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *MagnitudeParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x DistanceParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *DistanceParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x TagParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *TagParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SemanticSearch) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SemanticSearch) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SemanticConfiguration) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SemanticConfiguration) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SemanticPrioritizedFields) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SemanticPrioritizedFields) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x SemanticField) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *SemanticField) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x VectorSearch) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *VectorSearch) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x VectorSearchProfile) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *VectorSearchProfile) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x VectorSearchAlgorithm) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *VectorSearchAlgorithm) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x HNSWParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *HNSWParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ExhaustiveKNNParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ExhaustiveKNNParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x VectorCompression) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *VectorCompression) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ScalarQuantizationParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ScalarQuantizationParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x RescoringOptions) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *RescoringOptions) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x Vectorizer) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *Vectorizer) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AzureOpenAIParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AzureOpenAIParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x WebAPIParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *WebAPIParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AIServicesVisionParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AIServicesVisionParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x AMLParameters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *AMLParameters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x IndexStatistics) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *IndexStatistics) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x NamedIndexStatistics) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *NamedIndexStatistics) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ServiceStatistics) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ServiceStatistics) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ServiceCounters) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ServiceCounters) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ResourceCounter) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ResourceCounter) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }

// MarshalJSON implements json.Marshaler.
func (x ServiceLimits) MarshalJSON() ([]byte, error) { return encodeObject(x) }

// UnmarshalJSON implements json.Unmarshaler.
func (x *ServiceLimits) UnmarshalJSON(b []byte) error { return decodeObject(b, x) }
