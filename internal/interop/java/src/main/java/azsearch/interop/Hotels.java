package azsearch.interop;

import com.azure.core.models.GeoPoint;
import com.azure.search.documents.indexes.SearchIndexClient;
import com.azure.search.documents.indexes.models.CustomAnalyzer;
import com.azure.search.documents.indexes.models.DistanceScoringFunction;
import com.azure.search.documents.indexes.models.DistanceScoringParameters;
import com.azure.search.documents.indexes.models.ExhaustiveKnnAlgorithmConfiguration;
import com.azure.search.documents.indexes.models.ExhaustiveKnnParameters;
import com.azure.search.documents.indexes.models.HnswAlgorithmConfiguration;
import com.azure.search.documents.indexes.models.HnswParameters;
import com.azure.search.documents.indexes.models.LexicalTokenizerName;
import com.azure.search.documents.indexes.models.ScoringFunctionAggregation;
import com.azure.search.documents.indexes.models.ScoringFunctionInterpolation;
import com.azure.search.documents.indexes.models.ScoringProfile;
import com.azure.search.documents.indexes.models.SearchIndex;
import com.azure.search.documents.indexes.models.SearchSuggester;
import com.azure.search.documents.indexes.models.SemanticConfiguration;
import com.azure.search.documents.indexes.models.SemanticField;
import com.azure.search.documents.indexes.models.SemanticPrioritizedFields;
import com.azure.search.documents.indexes.models.SemanticSearch;
import com.azure.search.documents.indexes.models.TextWeights;
import com.azure.search.documents.indexes.models.TokenFilterName;
import com.azure.search.documents.indexes.models.VectorSearch;
import com.azure.search.documents.indexes.models.VectorSearchAlgorithmMetric;
import com.azure.search.documents.indexes.models.VectorSearchProfile;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/** The index and the documents that most scenarios work on. */
final class Hotels {
    static final String INDEX = "hotels";

    private Hotels() {
    }

    static SearchIndex index(String name) {
        return new SearchIndex(name, SearchIndexClient.buildSearchFields(Hotel.class, null))
            .setSuggesters(new SearchSuggester("sg", List.of("hotelName", "category")))
            .setScoringProfiles(
                new ScoringProfile("byName").setTextWeights(new TextWeights(Map.of("hotelName", 10.0))),
                new ScoringProfile("near")
                    .setFunctionAggregation(ScoringFunctionAggregation.SUM)
                    .setFunctions(
                        new DistanceScoringFunction("location", 50, new DistanceScoringParameters("here", 100))
                            .setInterpolation(ScoringFunctionInterpolation.LINEAR)))
            .setAnalyzers(new CustomAnalyzer("folded", LexicalTokenizerName.STANDARD)
                .setTokenFilters(TokenFilterName.LOWERCASE, TokenFilterName.ASCII_FOLDING))
            .setSemanticSearch(new SemanticSearch()
                .setDefaultConfigurationName("readable")
                .setConfigurations(List.of(new SemanticConfiguration("readable", new SemanticPrioritizedFields()
                    .setTitleField(new SemanticField("hotelName"))
                    .setContentFields(new SemanticField("description"))))))
            .setVectorSearch(new VectorSearch()
                .setAlgorithms(
                    new HnswAlgorithmConfiguration("graph").setParameters(new HnswParameters()
                        .setM(4).setEfConstruction(400).setEfSearch(500).setMetric(VectorSearchAlgorithmMetric.COSINE)),
                    new ExhaustiveKnnAlgorithmConfiguration("all").setParameters(
                        new ExhaustiveKnnParameters().setMetric(VectorSearchAlgorithmMetric.EUCLIDEAN)))
                .setProfiles(new VectorSearchProfile("nearest", "graph")));
    }

    static List<Hotel> all() {
        return List.of(fancyStay(), roachMotel(), economyStay(), secretPoint(), unknown());
    }

    static Hotel fancyStay() {
        var hotel = new Hotel();
        hotel.hotelId = "1";
        hotel.hotelName = "Fancy Stay";
        hotel.description = "Best hotel in town if you like luxury hotels. It has an infinity pool and a spa.";
        hotel.slogan = "Déjà vu à la carte";
        hotel.category = "Luxury";
        hotel.tags = List.of("pool", "view", "wifi");
        hotel.parkingIncluded = false;
        hotel.lastRenovationDate = OffsetDateTime.parse("2010-06-27T00:00:00Z");
        hotel.rating = 5;
        hotel.visitors = Long.MAX_VALUE;
        hotel.location = new GeoPoint(-122.13, 47.67);
        hotel.internalNote = "never shown";
        hotel.address = new Hotel.Address("Redmond", "USA");
        hotel.rooms = List.of(new Hotel.Room("Suite", 310.5), new Hotel.Room("Double", 190.0));
        hotel.descriptionVector = List.of(1f, 0f, 0f);
        return hotel;
    }

    static Hotel roachMotel() {
        var hotel = new Hotel();
        hotel.hotelId = "2";
        hotel.hotelName = "Roach Motel";
        hotel.description = "Cheapest hotel in town. In fact, a motel.";
        hotel.category = "Budget";
        hotel.tags = List.of("motel", "budget");
        hotel.parkingIncluded = true;
        hotel.lastRenovationDate = OffsetDateTime.parse("1982-04-28T00:00:00Z");
        hotel.rating = 1;
        hotel.location = new GeoPoint(-122.13, 49.67);
        hotel.address = new Hotel.Address("Hope", "Canada");
        hotel.rooms = List.of(new Hotel.Room("Single", 39.0));
        hotel.descriptionVector = List.of(0f, 1f, 0f);
        return hotel;
    }

    static Hotel economyStay() {
        var hotel = new Hotel();
        hotel.hotelId = "3";
        hotel.hotelName = "Economy Stay";
        hotel.description = "A very popular place with free wifi.";
        hotel.category = "Budget";
        hotel.tags = List.of("wifi", "budget");
        hotel.parkingIncluded = true;
        hotel.lastRenovationDate = OffsetDateTime.parse("1995-07-01T05:30:00.250-07:00");
        hotel.rating = 4;
        hotel.location = new GeoPoint(-122.13, 46.67);
        hotel.address = new Hotel.Address("Randle", "USA");
        hotel.rooms = List.of();
        hotel.descriptionVector = List.of(0.8f, 0.6f, 0f);
        return hotel;
    }

    static Hotel secretPoint() {
        var hotel = new Hotel();
        hotel.hotelId = "4";
        hotel.hotelName = "Secret Point Motor Inn";
        hotel.description = "Ideally located on the main street, a fancy breakfast is included.";
        hotel.category = "Boutique";
        hotel.tags = List.of("pool", "breakfast");
        hotel.parkingIncluded = true;
        hotel.rating = 3;
        hotel.location = new GeoPoint(-73.975403, 40.760586);
        hotel.address = new Hotel.Address("New York", "USA");
        hotel.rooms = List.of(new Hotel.Room("Double", 120.0));
        hotel.descriptionVector = List.of(0f, 0f, 1f);
        return hotel;
    }

    /** Is sent with null for all that nobody knows, collections too. */
    static Hotel unknown() {
        var hotel = new Hotel();
        hotel.hotelId = "5";
        hotel.description = "Nothing much is known about it.";
        hotel.category = "Luxury";
        return hotel;
    }
}
