package skills

import "github.com/go-azsearch/azsearch/models/internal/object"

// The concrete types of each union, with the values of their discriminator.

//go:generate go run ../internal/object/methods

func register(pkg *object.Package) {
	object.Register[Account, UnknownAccount](pkg, "@odata.type",
		object.Of[DefaultAccount]("#Microsoft.Azure.Search.DefaultCognitiveServices"),
		object.Of[CognitiveServicesKey]("#Microsoft.Azure.Search.CognitiveServicesByKey"),
		object.Of[AIServicesKey]("#Microsoft.Azure.Search.AIServicesByKey"),
		object.Of[AIServicesIdentity]("#Microsoft.Azure.Search.AIServicesByIdentity"),
	)
	object.Register[Skill, UnknownSkill](pkg, "@odata.type",
		object.Of[AzureOpenAIEmbedding]("#Microsoft.Skills.Text.AzureOpenAIEmbeddingSkill"),
		object.Of[ChatCompletion]("#Microsoft.Skills.Custom.ChatCompletionSkill"),
		object.Of[Conditional]("#Microsoft.Skills.Util.ConditionalSkill"),
		object.Of[ContentUnderstanding]("#Microsoft.Skills.Util.ContentUnderstandingSkill"),
		object.Of[CustomEntityLookup]("#Microsoft.Skills.Text.CustomEntityLookupSkill"),
		object.Of[DocumentExtraction]("#Microsoft.Skills.Util.DocumentExtractionSkill"),
		object.Of[DocumentIntelligenceLayout]("#Microsoft.Skills.Util.DocumentIntelligenceLayoutSkill"),
		object.Of[EntityLinking]("#Microsoft.Skills.Text.V3.EntityLinkingSkill"),
		object.Of[EntityRecognition]("#Microsoft.Skills.Text.V3.EntityRecognitionSkill"),
		object.Of[ImageAnalysis]("#Microsoft.Skills.Vision.ImageAnalysisSkill"),
		object.Of[KeyPhraseExtraction]("#Microsoft.Skills.Text.KeyPhraseExtractionSkill"),
		object.Of[LanguageDetection]("#Microsoft.Skills.Text.LanguageDetectionSkill"),
		object.Of[Merge]("#Microsoft.Skills.Text.MergeSkill"),
		object.Of[OCR]("#Microsoft.Skills.Vision.OcrSkill"),
		object.Of[PIIDetection]("#Microsoft.Skills.Text.PIIDetectionSkill"),
		object.Of[Sentiment]("#Microsoft.Skills.Text.V3.SentimentSkill"),
		object.Of[Shaper]("#Microsoft.Skills.Util.ShaperSkill"),
		object.Of[Split]("#Microsoft.Skills.Text.SplitSkill"),
		object.Of[Translation]("#Microsoft.Skills.Text.TranslationSkill"),
		object.Of[WebAPI]("#Microsoft.Skills.Custom.WebApiSkill"),
	)
}
