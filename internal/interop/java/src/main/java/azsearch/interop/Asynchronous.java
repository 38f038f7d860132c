package azsearch.interop;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.core.http.rest.Response;
import com.azure.search.documents.SearchAsyncClient;
import com.azure.search.documents.SearchDocument;
import com.azure.search.documents.indexes.SearchIndexAsyncClient;
import com.azure.search.documents.indexes.models.AnalyzeTextOptions;
import com.azure.search.documents.indexes.models.AnalyzedTokenInfo;
import com.azure.search.documents.indexes.models.LexicalAnalyzerName;
import com.azure.search.documents.indexes.models.SynonymMap;
import com.azure.search.documents.models.AutocompleteItem;
import com.azure.search.documents.models.IndexBatchException;
import com.azure.search.documents.models.IndexingResult;
import com.azure.search.documents.models.SearchOptions;
import com.azure.search.documents.models.SuggestResult;
import com.azure.search.documents.models.VectorSearchOptions;
import com.azure.search.documents.models.VectorizedQuery;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The asynchronous clients, in an index of their own. */
final class Asynchronous {
    private static final String INDEX = "async";

    private final Service service;
    private final SearchIndexAsyncClient indexes;
    private final SearchAsyncClient client;

    Asynchronous(Service service) {
        this.service = service;
        indexes = service.indexesAsync();
        client = service.documentsAsync(INDEX);
    }

    void run() throws InterruptedException {
        Scenario.run("define an index asynchronously", () -> {
            var created = indexes.createIndex(Hotels.index(INDEX)).flatMap(index -> indexes.getIndex(INDEX)).block();
            Check.equal(INDEX, created.getName());
            Check.equal(List.of(INDEX, Hotels.INDEX, NumberDocument.INDEX),
                indexes.listIndexNames().sort().collectList().block());

            var cities = new SynonymMap("async", "new york, big apple");
            var updated = indexes.createSynonymMap(cities)
                .map(map -> map.setSynonyms("hope, despair"))
                .flatMap(map -> indexes.createOrUpdateSynonymMapWithResponse(map, true))
                .map(Response::getValue)
                .block();
            Check.equal("hope, despair", updated.getSynonyms());
            refused(412, indexes.deleteSynonymMapWithResponse(cities.setETag("\"0x0\""), true));
            Check.equal(204, indexes.deleteSynonymMapWithResponse(updated, true).block().getStatusCode());
        });

        Scenario.run("upload, get, merge and delete documents asynchronously", () -> {
            var statuses = client.uploadDocuments(Hotels.all())
                .flatMapIterable(result -> result.getResults())
                .map(IndexingResult::getStatusCode)
                .collectList();
            Check.equal(List.of(201, 201, 201, 201, 201), statuses.block());
            Check.equal(5L, client.getDocumentCount().block());
            var names = Flux.range(1, 4)
                .concatMap(key -> client.getDocument("" + key, Hotel.class))
                .map(hotel -> hotel.hotelName);
            Check.equal(List.of("Fancy Stay", "Roach Motel", "Economy Stay", "Secret Point Motor Inn"),
                names.collectList().block());

            var change = Map.of("hotelId", "2", "rating", 2);
            var merged = client.mergeDocuments(List.of(change)).then(client.getDocument("2", SearchDocument.class));
            Check.equal(2, merged.block().get("rating"));
            Check.throwing(IndexBatchException.class,
                () -> client.mergeDocuments(List.of(change, Map.of("hotelId", "404"))).block());
            Check.throwing(ResourceNotFoundException.class, () -> client.getDocument("404", Hotel.class).block());
            var left = client.deleteDocuments(List.of(Map.of("hotelId", "5"))).then(client.getDocumentCount());
            Check.equal(4L, left.block());
        });

        Scenario.run("search asynchronously", () -> {
            var results = client.search("wifi", new SearchOptions()
                .setFilter("rating ge 4").setOrderBy("rating desc").setFacets("category,sort:value")
                .setIncludeTotalCount(true).setMinimumCoverage(100.0).setHighlightFields("tags"));
            Check.equal(List.of("1", "3"), results.map(Found::key).collectList().block());
            Check.equal(2L, results.getTotalCount().block());
            Check.equal(100.0, results.getCoverage().block());
            Check.equal(List.of(1L, 1L),
                results.getFacets().block().get("category").stream().map(facet -> facet.getCount()).toList());
            Check.equal(List.of("<em>wifi</em>"), results.blockFirst().getHighlights().get("tags"));

            var vector = new VectorizedQuery(List.of(0f, 0f, 1f))
                .setFields("descriptionVector").setKNearestNeighborsCount(1);
            var nearest = client.search(null,
                new SearchOptions().setVectorSearchOptions(new VectorSearchOptions().setQueries(vector)));
            Check.equal(List.of("4"), nearest.map(Found::key).collectList().block());
        });

        Scenario.run("read page by page asynchronously", () -> {
            var everything = IntStream.range(0, NumberDocument.COUNT).boxed().toList();
            var numbers = service.documentsAsync(NumberDocument.INDEX);
            var results = numbers.search("*", new SearchOptions().setOrderBy("number"));
            var read = results.map(result -> result.getDocument(NumberDocument.class).number());
            Check.equal(everything, read.collectList().block());

            var pages = results.byPage().collectList().block();
            Check.equal(List.of(50, 50, 20), pages.stream().map(page -> page.getValue().size()).toList());
            var rest = results.byPage(pages.get(0).getContinuationToken())
                .flatMapIterable(page -> page.getValue())
                .map(result -> result.getDocument(NumberDocument.class).number());
            Check.equal(everything.subList(50, NumberDocument.COUNT), rest.collectList().block());
        });

        Scenario.run("suggest, autocomplete and analyze asynchronously", () -> {
            var suggested = client.suggest("roa", "sg").map(SuggestResult::getText);
            Check.equal(List.of("Roach Motel"), suggested.collectList().block());
            var completed = client.autocomplete("mo", "sg").map(AutocompleteItem::getText);
            Check.equal(List.of("motel", "motor"), completed.collectList().block());
            var tokens = indexes
                .analyzeText(INDEX, new AnalyzeTextOptions("The Pools", LexicalAnalyzerName.EN_LUCENE))
                .map(AnalyzedTokenInfo::getToken);
            Check.equal(List.of("pool"), tokens.collectList().block());
        });

        Scenario.run("refuse and delete asynchronously", () -> {
            refused(400, client.search("*", new SearchOptions().setFilter("rating ge")).then());
            refused(400, client.uploadDocuments(List.of(Map.of("hotelId", "9", "nothing", 1))));
            refused(409, indexes.createIndex(Hotels.index(INDEX)));
            Check.equal(4L, indexes.getIndexStatistics(INDEX).block().getDocumentCount());
            indexes.deleteIndex(INDEX).block();
            refused(404, indexes.getIndex(INDEX));
            Check.equal(2L, indexes.getServiceStatistics().block().getCounters().getIndexCounter().getUsage());
        });
    }

    private static void refused(int status, Mono<?> request) {
        var refusal = Check.throwing(HttpResponseException.class, () -> request.block());
        Check.equal(status, refusal.getResponse().getStatusCode());
    }
}
