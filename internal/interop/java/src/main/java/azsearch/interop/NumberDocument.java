package azsearch.interop;

import com.azure.search.documents.indexes.SearchIndexClient;
import com.azure.search.documents.indexes.SimpleField;
import com.azure.search.documents.indexes.models.SearchIndex;
import com.fasterxml.jackson.annotation.JsonGetter;
import java.util.List;
import java.util.stream.IntStream;

/** A small document, for indexes of many of them. */
record NumberDocument(
    @JsonGetter("id") @SimpleField(isKey = true, isFilterable = true, isSortable = true) String id,
    @JsonGetter("number") @SimpleField(isFilterable = true, isSortable = true) int number) {

    static final String INDEX = "numbers";

    /** The number of documents that the buffered sender leaves in the index. */
    static final int COUNT = 120;

    static SearchIndex index(String name) {
        return new SearchIndex(name, SearchIndexClient.buildSearchFields(NumberDocument.class, null));
    }

    static NumberDocument of(int number) {
        return new NumberDocument("n" + number, number);
    }

    static List<NumberDocument> upTo(int end) {
        return IntStream.range(0, end).mapToObj(NumberDocument::of).toList();
    }
}
