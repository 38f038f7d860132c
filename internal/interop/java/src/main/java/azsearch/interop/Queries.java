package azsearch.interop;

import com.azure.core.models.GeoPoint;
import com.azure.core.util.Context;
import com.azure.search.documents.SearchClient;
import com.azure.search.documents.SearchDocument;
import com.azure.search.documents.SearchFilter;
import com.azure.search.documents.models.FacetResult;
import com.azure.search.documents.models.QueryType;
import com.azure.search.documents.models.RangeFacetResult;
import com.azure.search.documents.models.ScoringParameter;
import com.azure.search.documents.models.ScoringStatistics;
import com.azure.search.documents.models.SearchMode;
import com.azure.search.documents.models.SearchOptions;
import com.azure.search.documents.models.ValueFacetResult;
import com.azure.search.documents.util.SearchPagedIterable;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** Searches by text, filters, and what comes with their results. */
final class Queries {
    private final SearchClient client;

    Queries(Service service) {
        client = service.documents(Hotels.INDEX);
    }

    void text() throws InterruptedException {
        Scenario.run("search in the simple syntax", () -> {
            var results = search("wifi -luxury", new SearchOptions().setSearchMode(SearchMode.ALL)).stream().toList();
            Check.equal(List.of("3"), results.stream().map(Found::key).toList());
            Check.holds(results.get(0).getScore() > 0, "what is found has a score");
            var hotel = results.get(0).getDocument(Hotel.class);
            Check.equal(OffsetDateTime.parse("1995-07-01T12:30:00.250Z"), hotel.lastRenovationDate);
            Check.equal(null, hotel.internalNote);
            Check.equal(List.of("1", "3", "4"), Found.sortedKeys(client.search("fancy stay")));
            Check.equal(List.of("1"), keys("fancy stay", new SearchOptions().setSearchMode(SearchMode.ALL)));
            Check.equal(List.of("1", "2", "3", "4", "5"), Found.sortedKeys(client.search("*")));
        });

        Scenario.run("search in the full syntax", () -> {
            Function<String, List<String>> full = text -> keys(text,
                new SearchOptions().setQueryType(QueryType.FULL).setSearchMode(SearchMode.ALL));
            Check.equal(List.of("3"), full.apply("category:budget AND \"popular place\"^3"));
            Check.equal(List.of("2"), full.apply("hotelName:motal~1"));
            Check.equal(List.of("3"), full.apply("hotelName:/ec.*y/"));
            Check.equal(List.of("4"), full.apply("\"fancy included\"~5"));
            Check.equal(List.of("4"), full.apply("address/city:new*"));
        });

        Scenario.run("search with synonyms and with a custom analyzer", () -> {
            Check.equal(List.of("2"), Found.keys(client.search("guesthouse")));
            Check.equal(List.of("1"), Found.keys(client.search("waterslide")));
            Check.equal(List.of("1"), Found.keys(client.search("deja")));
        });

        Scenario.run("search some fields", () -> {
            Check.equal(List.of("1", "4"), Found.sortedKeys(client.search("fancy")));
            Check.equal(List.of("1"), keys("fancy", new SearchOptions().setSearchFields("hotelName")));
        });
    }

    void selection() throws InterruptedException {
        Scenario.run("filter", () -> {
            Check.equal(List.of("1"),
                filtered(SearchFilter.create("rooms/any(room: room/baseRate lt %s) and rating ge %s", 200, 5)));
            Check.equal(List.of("1", "2", "5"),
                filtered(SearchFilter.create("hotelName eq %s or not parkingIncluded", "Roach Motel")));
            Check.equal(List.of(), filtered(SearchFilter.create("hotelName eq %s", "O'Neill's")));
            Check.equal(List.of("2", "3"), filtered(SearchFilter.create(
                "lastRenovationDate lt %s", OffsetDateTime.parse("1996-01-01T01:00:00+01:00"))));
            Check.equal(List.of("1"), filtered(SearchFilter.create("visitors eq %s", Long.MAX_VALUE)));
            Check.equal(List.of("1", "2"),
                filtered("tags/any(t: search.in(t, 'view, motel')) and address/country ne null"));
            Check.equal(List.of("1", "3"), filtered(SearchFilter.create(
                "geo.distance(location, %s) lt 150", new GeoPoint(-122.13, 47.67))));
            Check.equal(List.of("5"), filtered("rating eq null"));
            Check.equal(List.of("4"), filtered("search.ismatch('breakfast', 'tags')"));
        });

        Scenario.run("order", () -> {
            Check.equal(List.of("1", "3", "4", "2", "5"),
                keys("*", new SearchOptions().setOrderBy("rating desc", "hotelName")));
            Check.equal(List.of("4", "2", "3", "1"), ordered("lastRenovationDate"));
            Check.equal(List.of("4", "2", "1", "3"), ordered("geo.distance(location, geography'POINT(-73.97 40.76)')"));
            Check.equal(List.of("2", "4", "3", "1"), ordered("address/city"));
        });

        Scenario.run("select", () -> {
            var results = search("roach", new SearchOptions().setSelect("hotelName", "rooms/baseRate"));
            Check.equal(
                List.of(Map.of("hotelName", "Roach Motel", "rooms", List.of(Map.of("baseRate", 39.0)))),
                results.stream().map(result -> result.getDocument(SearchDocument.class)).toList());
        });

        Scenario.run("count and page with top and skip", () -> {
            var options = new SearchOptions().setOrderBy("hotelId").setTop(2).setSkip(1);
            Check.equal(null, search("*", options).getTotalCount());
            var counted = search("*", options.setIncludeTotalCount(true));
            Check.equal(5L, counted.getTotalCount());
            Check.equal(List.of("2", "3"), Found.keys(counted));
            Check.equal(null, counted.getCoverage());
            Check.equal(100.0, search("*", new SearchOptions().setMinimumCoverage(80.0)).getCoverage());
        });
    }

    void extras() throws InterruptedException {
        Scenario.run("facets", () -> {
            var facets = search("*", new SearchOptions().setTop(0).setFacets(
                "category,count:2,sort:count",
                "tags,sort:value",
                "rating,values:2|4",
                "rooms/baseRate,interval:100",
                "lastRenovationDate,interval:year")).getFacets();
            Check.equal(List.of("Budget 2", "Luxury 2"), values(facets.get("category")).stream().sorted().toList());
            Check.equal(List.of("breakfast 1", "budget 2", "motel 1", "pool 2", "view 1", "wifi 2"),
                values(facets.get("tags")));
            Check.equal(List.of("..2 1", "2..4 1", "4.. 2"), ranges(facets.get("rating")));
            Check.equal(List.of("0.0 1", "100.0 2", "300.0 1"), values(facets.get("rooms/baseRate")));
            Check.equal(
                List.of("1982-01-01T00:00:00Z 1", "1995-01-01T00:00:00Z 1", "2010-01-01T00:00:00Z 1"),
                values(facets.get("lastRenovationDate")));
        });

        Scenario.run("highlights", () -> {
            var results = search("hotels pool", new SearchOptions()
                .setHighlightFields("description", "tags").setHighlightPreTag("<b>").setHighlightPostTag("</b>"));
            var first = results.stream().filter(result -> Found.key(result).equals("1")).findFirst().orElseThrow();
            Check.contains("<b>hotels</b>", String.join(" ", first.getHighlights().get("description")));
            Check.contains("<b>pool</b>", String.join(" ", first.getHighlights().get("description")));
            Check.equal(List.of("<b>pool</b>"), first.getHighlights().get("tags"));
            Check.equal(Hotels.fancyStay().description, first.getDocument(Hotel.class).description);
        });

        Scenario.run("scoring profiles", () -> {
            var text = "fancy main street breakfast";
            Check.equal(List.of("4", "1"), Found.keys(client.search(text)));
            Check.equal(List.of("1"),
                keys(text, new SearchOptions().setScoringProfile("byName").setSearchFields("hotelName")));
            Check.equal(List.of("4", "1"), keys(text, new SearchOptions()
                .setScoringStatistics(ScoringStatistics.GLOBAL).setSessionId("session")));
            Check.equal("4", nearest(new GeoPoint(-73.975403, 40.760586)));
            Check.equal("1", nearest(new GeoPoint(-122.13, 47.67)));
        });
    }

    private SearchPagedIterable search(String text, SearchOptions options) {
        return client.search(text, options, Context.NONE);
    }

    private List<String> keys(String text, SearchOptions options) {
        return Found.keys(search(text, options));
    }

    private List<String> filtered(String filter) {
        return keys("*", new SearchOptions().setFilter(filter).setOrderBy("hotelId"));
    }

    private List<String> ordered(String by) {
        return keys("*", new SearchOptions().setOrderBy(by).setFilter("rating ne null"));
    }

    private String nearest(GeoPoint here) {
        return keys("pool", new SearchOptions()
            .setScoringProfile("near").setScoringParameters(new ScoringParameter("here", here))).get(0);
    }

    private static List<String> values(List<FacetResult> facets) {
        return facets.stream()
            .map(ValueFacetResult<Object>::new)
            .map(facet -> facet.getValue() + " " + facet.getCount())
            .toList();
    }

    private static List<String> ranges(List<FacetResult> facets) {
        return facets.stream()
            .map(RangeFacetResult<Object>::new)
            .map(facet -> "%s..%s %s".formatted(
                Objects.toString(facet.getFrom(), ""), Objects.toString(facet.getTo(), ""), facet.getCount()))
            .toList();
    }
}
