package azsearch.interop;

import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.models.SearchOptions;
import com.azure.search.documents.models.SearchResult;
import com.azure.search.documents.models.VectorFilterMode;
import com.azure.search.documents.models.VectorSearchOptions;
import com.azure.search.documents.models.VectorizedQuery;
import java.util.List;

/** Searches by a vector, alone and together with others. */
final class Vectors {
    private final SearchClient client;

    Vectors(Service service) {
        client = service.documents(Hotels.INDEX);
    }

    void run() throws InterruptedException {
        Scenario.run("search by a vector", () -> {
            var nearest = search("*", new SearchOptions(), new VectorSearchOptions().setQueries(query(2)));
            Check.equal(List.of("1", "3"), nearest.stream().map(Found::key).toList());
            Check.holds(nearest.get(0).getScore() > nearest.get(1).getScore(), "the nearest has the highest score");
            Check.equal(List.of(1f, 0f, 0f), nearest.get(0).getDocument(Hotel.class).descriptionVector);
        });

        Scenario.run("search by a vector alone", () -> {
            var nearest = search(null, new SearchOptions(),
                new VectorSearchOptions().setQueries(query(3).setExhaustive(true)));
            // Cosine similarity s is the score 1/(2-s).
            Check.near(1, nearest.get(0).getScore());
            Check.near(1 / 1.2, nearest.get(1).getScore());
        });

        Scenario.run("search by a vector with a filter", () -> {
            var budget = new SearchOptions().setFilter("category eq 'Budget'");
            var one = new VectorSearchOptions().setQueries(query(1));
            var before = search(null, budget, one.setFilterMode(VectorFilterMode.PRE_FILTER));
            Check.equal(List.of("3"), before.stream().map(Found::key).toList());
            var after = search(null, budget, one.setFilterMode(VectorFilterMode.POST_FILTER));
            Check.equal(List.of(), after.stream().map(Found::key).toList());
        });

        Scenario.run("search by text and a vector together", () -> {
            var merged = search("motel", new SearchOptions().setTop(3), new VectorSearchOptions().setQueries(query(2)));
            Check.equal(List.of("1", "2", "3"), merged.stream().map(Found::key).sorted().toList());
            // Being the first of one ranking counts 1/60, in whichever it is.
            Check.near(1 / 60.0, merged.get(0).getScore());
            var weighted = search("motel", new SearchOptions(),
                new VectorSearchOptions().setQueries(query(1).setWeight(3f)));
            Check.equal("1", Found.key(weighted.get(0)));
            Check.near(3 / 60.0, weighted.get(0).getScore());
        });

        Scenario.run("search by two vectors", () -> {
            var other = new VectorizedQuery(List.of(0.8f, 0.6f, 0f))
                .setFields("descriptionVector").setKNearestNeighborsCount(2);
            var both = search(null, new SearchOptions(), new VectorSearchOptions().setQueries(query(2), other));
            // Each of the two is first in one ranking and second in the other.
            Check.equal(List.of("1", "3"), both.stream().map(Found::key).sorted().toList());
            Check.near(1 / 60.0 + 1 / 61.0, both.get(0).getScore());
            Check.near(1 / 60.0 + 1 / 61.0, both.get(1).getScore());
        });
    }

    private static VectorizedQuery query(int nearest) {
        return new VectorizedQuery(List.of(1f, 0f, 0f))
            .setFields("descriptionVector").setKNearestNeighborsCount(nearest);
    }

    private List<SearchResult> search(String text, SearchOptions options, VectorSearchOptions vectors) {
        return client.search(text, options.setVectorSearchOptions(vectors), Context.NONE).stream().toList();
    }
}
