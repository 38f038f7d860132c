package azsearch.interop;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.indexes.SearchIndexClient;
import com.azure.search.documents.indexes.models.SearchField;
import com.azure.search.documents.indexes.models.SearchFieldDataType;
import com.azure.search.documents.indexes.models.SearchIndex;
import com.azure.search.documents.models.QueryType;
import com.azure.search.documents.models.SearchOptions;
import com.azure.search.documents.models.SemanticSearchOptions;
import com.azure.search.documents.models.VectorSearchOptions;
import com.azure.search.documents.models.VectorizableTextQuery;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** What the service refuses, and what it says then. */
final class Refusals {
    private final Service service;
    private final SearchIndexClient indexes;
    private final SearchClient client;

    Refusals(Service service) {
        this.service = service;
        indexes = service.indexes();
        client = service.documents(Hotels.INDEX);
    }

    void run() throws InterruptedException {
        Scenario.run("refuse a bad query", () -> {
            search(400, "Invalid expression", "*", new SearchOptions().setFilter("rating ge"));
            search(400, "nothing", "*", new SearchOptions().setFilter("nothing eq 1"));
            search(400, "description", "*", new SearchOptions().setOrderBy("description"));
            search(400, "hotelName", "*", new SearchOptions().setFacets("hotelName"));
            search(400, "parse", "a AND (", new SearchOptions().setQueryType(QueryType.FULL));
            search(400, "100000", "*", new SearchOptions().setSkip(100_001));
            refused(400, "nobody", () -> client.suggest("ro", "nobody").stream().count());
        });

        Scenario.run("refuse a bad document", () -> {
            upload("five", Map.of("hotelId", "9", "rating", "five"));
            upload("nothing", Map.of("hotelId", "9", "nothing", 1));
            upload("a b", Map.of("hotelId", "a b"));
            upload("descriptionVector", Map.of("hotelId", "9", "descriptionVector", List.of(1f)));
            upload("key", Map.of("rating", 1));
            Check.equal(5L, client.getDocumentCount());
        });

        Scenario.run("refuse a bad index", () -> {
            refused(400, "key", () -> indexes.createIndex(
                new SearchIndex("keyless", List.of(new SearchField("a", SearchFieldDataType.STRING)))));
            refused(409, Hotels.INDEX, () -> indexes.createIndex(Hotels.index(Hotels.INDEX)));
            refused(404, "nowhere", () -> indexes.getIndex("nowhere"));
            refused(404, "nowhere", () -> service.documents("nowhere").search("*").stream().count());
        });

        Scenario.run("refuse a wrong key", () -> {
            refused(403, "", () -> service.documents(Hotels.INDEX, "wrong").getDocumentCount());
            var reader = service.documents(Hotels.INDEX, service.queryKey());
            Check.equal(5L, reader.getDocumentCount());
            refused(403, "", () -> reader.deleteDocuments(List.of(Map.of("hotelId", "1"))));
        });

        Scenario.run("refuse what is not emulated", () -> {
            search(501, "semantic", "hotel", new SearchOptions().setQueryType(QueryType.SEMANTIC)
                .setSemanticSearchOptions(new SemanticSearchOptions().setSemanticConfigurationName("readable")));
            search(501, "vectorizers", null, new SearchOptions().setVectorSearchOptions(new VectorSearchOptions()
                .setQueries(new VectorizableTextQuery("hotel").setFields("descriptionVector"))));
        });
    }

    private void search(int status, String words, String text, SearchOptions options) {
        // Results are asked for when they are read.
        refused(status, words, () -> client.search(text, options, Context.NONE).stream().count());
    }

    private void upload(String words, Map<String, ?> document) {
        refused(400, words, () -> client.uploadDocuments(List.of(document)));
    }

    private static void refused(int status, String words, Callable<?> call) {
        var refusal = Check.throwing(HttpResponseException.class, call);
        Check.equal(status, refusal.getResponse().getStatusCode());
        Check.contains(words, refusal.getMessage());
    }
}
