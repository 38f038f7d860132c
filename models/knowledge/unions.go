package knowledge

import "github.com/go-azsearch/azsearch/models/internal/object"

// The concrete types of each union, with the values of their discriminator.

//go:generate go run ../internal/object/methods

func register(pkg *object.Package) {
	object.Register[Model, UnknownModel](pkg, "kind",
		object.Of[AzureOpenAI]("azureOpenAI"),
	)
	object.Register[Intent, UnknownIntent](pkg, "type",
		object.Of[SemanticIntent]("semantic"),
	)
	object.Register[Content, UnknownContent](pkg, "type",
		object.Of[TextContent]("text"),
		object.Of[ImageContent]("image"),
	)
	object.Register[Activity, UnknownActivity](pkg, "type",
		object.Of[SearchIndexActivity]("searchIndex"),
		object.Of[AzureBlobActivity]("azureBlob"),
		object.Of[OneLakeActivity]("indexedOneLake"),
		object.Of[WebActivity]("web"),
		object.Of[SharePointActivity]("indexedSharePoint"),
		object.Of[SQLActivity]("indexedSql"),
		object.Of[FileActivity]("file"),
		object.Of[QueryPlanning]("modelQueryPlanning"),
		object.Of[AnswerSynthesis]("modelAnswerSynthesis"),
		object.Of[WebSummarization]("modelWebSummarization"),
		object.Of[AgenticReasoning]("agenticReasoning"),
	)
	object.Register[Reference, UnknownReference](pkg, "type",
		object.Of[SearchIndexReference]("searchIndex"),
		object.Of[AzureBlobReference]("azureBlob"),
		object.Of[OneLakeReference]("indexedOneLake"),
		object.Of[WebReference]("web"),
		object.Of[SharePointReference]("indexedSharePoint"),
		object.Of[SQLReference]("indexedSql"),
		object.Of[FileReference]("file"),
	)
}
