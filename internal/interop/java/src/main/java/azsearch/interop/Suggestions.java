package azsearch.interop;

import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.SearchDocument;
import com.azure.search.documents.models.AutocompleteMode;
import com.azure.search.documents.models.AutocompleteOptions;
import com.azure.search.documents.models.SuggestOptions;
import java.util.List;
import java.util.Map;

/** What the service proposes to somebody who is still typing. */
final class Suggestions {
    private final SearchClient client;

    Suggestions(Service service) {
        client = service.documents(Hotels.INDEX);
    }

    void suggest() throws InterruptedException {
        Scenario.run("suggest", () -> {
            Check.equal(List.of("1 Fancy Stay", "3 Economy Stay"),
                suggested("sta", new SuggestOptions()).stream().sorted().toList());
            Check.equal(List.of("3 Economy Stay"), suggested("sta", new SuggestOptions().setFilter("rating lt 5")));
            Check.equal(List.of(), suggested("roech", new SuggestOptions()));
            Check.equal(List.of("2 Roach Motel"), suggested("roech", new SuggestOptions().setUseFuzzyMatching(true)));
            Check.equal(List.of("3 Economy [Stay]"), suggested("sta", new SuggestOptions()
                .setHighlightPreTag("[").setHighlightPostTag("]").setOrderBy("hotelName").setTop(1)));
            var selected = client.suggest("roa", "sg",
                new SuggestOptions().setSelect("hotelName", "rating").setSearchFields("hotelName"), Context.NONE);
            Check.equal(Map.of("hotelName", "Roach Motel", "rating", 1),
                selected.iterator().next().getDocument(SearchDocument.class));
        });
    }

    void autocomplete() throws InterruptedException {
        Scenario.run("autocomplete", () -> {
            Check.equal(List.of("motel, motel", "motor, motor"), completed("mo", new AutocompleteOptions()));
            Check.equal(List.of("point motor, point motor"), completed("point mo",
                new AutocompleteOptions().setAutocompleteMode(AutocompleteMode.ONE_TERM_WITH_CONTEXT)));
            Check.equal("secret point, secret point", completed("secr",
                new AutocompleteOptions().setAutocompleteMode(AutocompleteMode.TWO_TERMS)).get(0));
            Check.equal(List.of("motor, motor"),
                completed("mo", new AutocompleteOptions().setFilter("rating gt 2").setTop(5)));
            Check.equal(List.of("roach, roach"),
                completed("raoch", new AutocompleteOptions().setUseFuzzyMatching(true)));
        });
    }

    private List<String> suggested(String text, SuggestOptions options) {
        return client.suggest(text, "sg", options, Context.NONE).stream()
            .map(one -> one.getDocument(SearchDocument.class).get("hotelId") + " " + one.getText())
            .toList();
    }

    private List<String> completed(String text, AutocompleteOptions options) {
        return client.autocomplete(text, "sg", options, Context.NONE).stream()
            .map(one -> one.getText() + ", " + one.getQueryPlusText())
            .toList();
    }
}
