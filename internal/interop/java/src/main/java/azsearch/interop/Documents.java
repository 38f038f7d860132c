package azsearch.interop;

import com.azure.core.exception.ResourceNotFoundException;
import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.SearchDocument;
import com.azure.search.documents.indexes.models.IndexDocumentsBatch;
import com.azure.search.documents.models.IndexBatchException;
import com.azure.search.documents.models.IndexDocumentsOptions;
import com.azure.search.documents.models.IndexDocumentsResult;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Documents that are written, read by their key, and changed. */
final class Documents {
    private final SearchClient client;

    Documents(Service service) {
        client = service.indexes().getSearchClient(Hotels.INDEX);
    }

    void uploads() throws InterruptedException {
        Scenario.run("upload documents", () -> {
            var result = client.uploadDocuments(Hotels.all());
            Check.equal(List.of("1 201", "2 201", "3 201", "4 201", "5 201"), outcomes(result));
            Check.equal(5L, client.getDocumentCount());
        });
    }

    void lookups() throws InterruptedException {
        Scenario.run("get a document as it was uploaded", () -> {
            var uploaded = Hotels.fancyStay();
            var read = client.getDocument("1", Hotel.class);
            // The service adds the reference system of the coordinates, which only the SDK takes for a difference.
            Check.equal(uploaded.location.getCoordinates(), read.location.getCoordinates());
            uploaded.location = read.location;
            uploaded.internalNote = null;
            Check.equal(uploaded.toString(), read.toString());
            var moved = client.getDocument("3", Hotel.class).lastRenovationDate;
            Check.equal(OffsetDateTime.parse("1995-07-01T12:30:00.250Z"), moved);
        });

        Scenario.run("get a document as a map", () -> {
            var document = client.getDocument("3", SearchDocument.class);
            Check.equal("Economy Stay", document.get("hotelName"));
            Check.equal("1995-07-01T12:30:00.25Z", document.get("lastRenovationDate"));
            Check.equal(List.of("wifi", "budget"), document.get("tags"));
            Check.equal(Map.of("city", "Randle", "country", "USA"), document.get("address"));
            Check.holds(!document.containsKey("internalNote"), "what is hidden is not shown");
            Check.equal(Long.MAX_VALUE, client.getDocument("1", SearchDocument.class).get("visitors"));
        });

        Scenario.run("get what was never set as null or empty", () -> {
            var document = client.getDocument("5", SearchDocument.class);
            for (var name : List.of("hotelName", "rating", "visitors", "location", "address", "stars")) {
                Check.holds(document.containsKey(name) && document.get(name) == null, name + " is null");
            }
            for (var name : List.of("tags", "rooms", "descriptionVector")) {
                Check.equal(List.of(), document.get(name));
            }
        });

        Scenario.run("get special values", () -> {
            var values = List.of(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0.1, -1e300);
            var slogan = "it's “100%” 😀\n";
            var documents = IntStream.range(0, values.size()).mapToObj(i -> {
                var hotel = new Hotel();
                hotel.hotelId = i + "=-_";
                hotel.stars = values.get(i);
                hotel.slogan = slogan;
                return hotel;
            }).toList();
            client.uploadDocuments(documents);
            for (var document : documents) {
                var read = client.getDocument(document.hotelId, Hotel.class);
                Check.equal(document.stars, read.stars);
                Check.equal(slogan, read.slogan);
            }
            client.deleteDocuments(documents);
        });

        Scenario.run("get selected fields", () -> {
            var fields = List.of("hotelName", "address/city", "rooms/type");
            var response = client.getDocumentWithResponse("1", SearchDocument.class, fields, Context.NONE);
            Check.equal(200, response.getStatusCode());
            Check.equal(
                Map.of(
                    "hotelName", "Fancy Stay",
                    "address", Map.of("city", "Redmond"),
                    "rooms", List.of(Map.of("type", "Suite"), Map.of("type", "Double"))),
                response.getValue());
        });

        Scenario.run("get a document that is missing", () -> {
            var missing = Check.throwing(ResourceNotFoundException.class, () -> client.getDocument("404", Hotel.class));
            Check.equal(404, missing.getResponse().getStatusCode());
        });
    }

    void changes() throws InterruptedException {
        Scenario.run("merge documents", () -> {
            var change = document("2", Map.of("rating", 2, "tags", List.of("motel")));
            change.put("description", null);
            Check.equal(List.of("2 200"), outcomes(client.mergeDocuments(List.of(change))));
            var merged = client.getDocument("2", Hotel.class);
            Check.equal(2, merged.rating);
            Check.equal(List.of("motel"), merged.tags);
            Check.equal(null, merged.description);
            Check.equal("Roach Motel", merged.hotelName);
        });

        Scenario.run("merge what is missing", () -> {
            var changes = List.of(document("404", Map.of("rating", 1)), document("2", Map.of("rating", 1)));
            var partly = Check.throwing(IndexBatchException.class, () -> client.mergeDocuments(changes));
            Check.contains("1 of 2 indexing actions in the batch failed", partly.getMessage());
            var results = partly.getIndexingResults();
            Check.equal(List.of("404 404 failed", "2 200"), outcomes(new IndexDocumentsResult(results)));
            Check.equal("Document not found.", results.get(0).getErrorMessage());

            var batch = new IndexDocumentsBatch<SearchDocument>().addMergeActions(changes);
            Check.equal(0, partly.findFailedActionsToRetry(batch, "hotelId").getActions().size());

            var lenient = new IndexDocumentsOptions().setThrowOnAnyError(false);
            var response = client.mergeDocumentsWithResponse(changes, lenient, Context.NONE);
            Check.equal(207, response.getStatusCode());
            Check.equal(List.of("404 404 failed", "2 200"), outcomes(response.getValue()));
        });

        Scenario.run("merge or upload documents", () -> {
            var result = client.mergeOrUploadDocuments(
                List.of(document("3", Map.of("rating", 5)), document("6", Map.of("hotelName", "Late"))));
            Check.equal(List.of("3 200", "6 201"), outcomes(result));
            Check.equal("Economy Stay", client.getDocument("3", Hotel.class).hotelName);
            Check.equal(6L, client.getDocumentCount());
        });

        Scenario.run("delete documents", () -> {
            Check.equal(List.of("6 200"), outcomes(client.deleteDocuments(List.of(document("6", Map.of())))));
            Check.equal(List.of("6 200"), outcomes(client.deleteDocuments(List.of(document("6", Map.of())))));
            Check.equal(5L, client.getDocumentCount());
            Check.throwing(ResourceNotFoundException.class, () -> client.getDocument("6", Hotel.class));
        });

        Scenario.run("send a batch of several actions", () -> {
            var batch = new IndexDocumentsBatch<SearchDocument>()
                .addUploadActions(List.of(document("7", Map.of("hotelName", "Seventh"))))
                .addMergeActions(List.of(document("7", Map.of("rating", 7))))
                .addMergeOrUploadActions(List.of(document("8", Map.of("rating", 8))));
            Check.equal(List.of("7 201", "7 200", "8 201"), outcomes(client.indexDocuments(batch)));
            var seventh = client.getDocument("7", Hotel.class);
            Check.equal(Arrays.asList("Seventh", 7), Arrays.asList(seventh.hotelName, seventh.rating));
            var deletion = new IndexDocumentsBatch<SearchDocument>().addDeleteActions("hotelId", List.of("7", "8"));
            Check.equal(List.of("7 200", "8 200"), outcomes(client.indexDocuments(deletion)));
            Check.equal(5L, client.getDocumentCount());
        });
    }

    private static SearchDocument document(String key, Map<String, ?> properties) {
        var document = new SearchDocument(properties);
        document.put("hotelId", key);
        return document;
    }

    private static List<String> outcomes(IndexDocumentsResult result) {
        return result.getResults().stream()
            .map(one -> one.getKey() + " " + one.getStatusCode() + (one.isSucceeded() ? "" : " failed"))
            .toList();
    }
}
