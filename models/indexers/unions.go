package indexers

import "github.com/go-azsearch/azsearch/models/internal/object"

// The concrete types of each union, with the values of their discriminator.

//go:generate go run ../internal/object/methods

func register(pkg *object.Package) {
	object.Register[ChangeDetectionPolicy, UnknownPolicy](pkg, "@odata.type",
		object.Of[HighWaterMark]("#Microsoft.Azure.Search.HighWaterMarkChangeDetectionPolicy"),
		object.Of[SQLChangeTracking]("#Microsoft.Azure.Search.SqlIntegratedChangeTrackingPolicy"),
	)
	object.Register[DeletionDetectionPolicy, UnknownPolicy](pkg, "@odata.type",
		object.Of[SoftDeleteColumn]("#Microsoft.Azure.Search.SoftDeleteColumnDeletionDetectionPolicy"),
		object.Of[NativeBlobSoftDelete]("#Microsoft.Azure.Search.NativeBlobSoftDeleteDeletionDetectionPolicy"),
	)
}
