package azsearch.interop;

import com.azure.core.models.GeoPoint;
import com.azure.core.util.serializer.JsonSerializerProviders;
import com.azure.search.documents.indexes.FieldBuilderIgnore;
import com.azure.search.documents.indexes.SearchableField;
import com.azure.search.documents.indexes.SimpleField;
import com.fasterxml.jackson.annotation.JsonGetter;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.List;

/** A document, from whose annotations the SDK builds the fields of the index. */
public final class Hotel {
    @SimpleField(isKey = true, isFilterable = true, isSortable = true)
    public String hotelId;

    @SearchableField(isFilterable = true, isSortable = true)
    public String hotelName;

    @SearchableField(analyzerName = "en.lucene", synonymMapNames = "lodging")
    public String description;

    @SearchableField(analyzerName = "folded")
    public String slogan;

    @SearchableField(isFilterable = true, isSortable = true, isFacetable = true)
    public String category;

    @SearchableField(isFilterable = true, isFacetable = true)
    public List<String> tags;

    @SimpleField(isFilterable = true, isSortable = true, isFacetable = true)
    public Boolean parkingIncluded;

    @SimpleField(isFilterable = true, isSortable = true, isFacetable = true)
    public OffsetDateTime lastRenovationDate;

    @SimpleField(isFilterable = true, isSortable = true, isFacetable = true)
    public Integer rating;

    @SimpleField(isFilterable = true)
    public Long visitors;

    @SimpleField(isFilterable = true, isSortable = true)
    public GeoPoint location;

    @SimpleField(isHidden = true)
    public String internalNote;

    public Address address;

    public List<Room> rooms;

    @SearchableField(vectorSearchDimensions = 3, vectorSearchProfileName = "nearest")
    public List<Float> descriptionVector;

    /** Is added to the index later. */
    @FieldBuilderIgnore
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public Double stars;

    // The SDK does not take the components of a record for fields without JsonGetter.

    public record Address(
        @JsonGetter("city") @SearchableField(isFilterable = true, isSortable = true, isFacetable = true) String city,
        @JsonGetter("country") @SearchableField(isFilterable = true) String country) {
    }

    public record Room(
        @JsonGetter("type") @SearchableField(isFilterable = true, isFacetable = true) String type,
        @JsonGetter("baseRate") @SimpleField(isFilterable = true, isFacetable = true) Double baseRate) {
    }

    /** The document as JSON, which says whether two are equal. */
    @Override
    public String toString() {
        return new String(JsonSerializerProviders.createInstance(true).serializeToBytes(this), StandardCharsets.UTF_8);
    }
}
