package azsearch.interop;

import com.azure.search.documents.SearchDocument;
import com.azure.search.documents.models.SearchResult;
import com.azure.search.documents.util.SearchPagedIterable;
import java.util.List;

/** What scenarios ask of the results of a search. */
final class Found {
    private Found() {
    }

    /** The keys of the hotels that were found, in their order. */
    static List<String> keys(SearchPagedIterable results) {
        return results.stream().map(Found::key).toList();
    }

    static List<String> sortedKeys(SearchPagedIterable results) {
        return results.stream().map(Found::key).sorted().toList();
    }

    static String key(SearchResult result) {
        return (String) result.getDocument(SearchDocument.class).get("hotelId");
    }
}
