package azsearch.interop;

import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.models.SearchOptions;
import com.azure.search.documents.models.SearchResult;
import com.azure.search.documents.util.SearchPagedIterable;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Results that need more than one page. They are the documents that the buffered sender has left. */
final class Paging {
    private static final List<Integer> EVERYTHING = IntStream.range(0, NumberDocument.COUNT).boxed().toList();

    private final SearchClient client;

    Paging(Service service) {
        client = service.documents(NumberDocument.INDEX);
    }

    void run() throws InterruptedException {
        Scenario.run("iterate over all pages", () -> {
            var results = search();
            Check.equal((long) NumberDocument.COUNT, results.getTotalCount());
            Check.equal(EVERYTHING, results.stream().map(Paging::number).toList());
        });

        Scenario.run("read page by page", () -> {
            var pages = search().streamByPage().toList();
            Check.equal(List.of(50, 50, 20), pages.stream().map(page -> page.getValue().size()).toList());
            var results = pages.stream().flatMap(page -> page.getValue().stream());
            Check.equal(EVERYTHING, results.map(Paging::number).toList());
            Check.equal(null, pages.get(2).getContinuationToken());
        });

        Scenario.run("continue from a continuation token", () -> {
            var first = search().iterableByPage().iterator().next();
            Check.holds(first.getContinuationToken() != null, "there are more pages");
            var rest = search().streamByPage(first.getContinuationToken()).flatMap(page -> page.getValue().stream());
            Check.equal(EVERYTHING, Stream.concat(first.getValue().stream(), rest).map(Paging::number).toList());
        });
    }

    private SearchPagedIterable search() {
        return client.search("*", new SearchOptions().setOrderBy("number").setIncludeTotalCount(true), Context.NONE);
    }

    private static int number(SearchResult result) {
        return result.getDocument(NumberDocument.class).number();
    }
}
