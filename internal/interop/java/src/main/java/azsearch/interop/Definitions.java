package azsearch.interop;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.util.Context;
import com.azure.search.documents.indexes.SearchIndexClient;
import com.azure.search.documents.indexes.models.AnalyzeTextOptions;
import com.azure.search.documents.indexes.models.AnalyzedTokenInfo;
import com.azure.search.documents.indexes.models.CustomAnalyzer;
import com.azure.search.documents.indexes.models.DistanceScoringFunction;
import com.azure.search.documents.indexes.models.HnswAlgorithmConfiguration;
import com.azure.search.documents.indexes.models.LexicalAnalyzerName;
import com.azure.search.documents.indexes.models.LexicalTokenizerName;
import com.azure.search.documents.indexes.models.SearchField;
import com.azure.search.documents.indexes.models.SearchFieldDataType;
import com.azure.search.documents.indexes.models.SearchIndex;
import com.azure.search.documents.indexes.models.SynonymMap;
import com.azure.search.documents.indexes.models.TokenFilterName;
import com.azure.search.documents.indexes.models.VectorSearchAlgorithmMetric;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Indexes, synonym maps, and what the service tells of them. */
final class Definitions {
    private final SearchIndexClient client;

    Definitions(Service service) {
        client = service.indexes();
    }

    void synonyms() throws InterruptedException {
        Scenario.run("create, get, list and update a synonym map", () -> {
            var map = new SynonymMap("lodging", "motel, guesthouse\nwaterslide => pool");
            var created = client.createSynonymMap(map);
            Check.equal(map.getSynonyms(), created.getSynonyms());
            Check.equal(created.getETag(), client.getSynonymMap("lodging").getETag());
            Check.equal(List.of("lodging"), client.listSynonymMapNames().stream().toList());

            var oldTag = created.getETag();
            created.setSynonyms(created.getSynonyms() + "\ncheap, inexpensive");
            var response = client.createOrUpdateSynonymMapWithResponse(created, true, Context.NONE);
            Check.equal(200, response.getStatusCode());
            var updated = response.getValue();
            Check.equal(created.getSynonyms(), updated.getSynonyms());
            Check.differ(oldTag, updated.getETag());
            changed(() -> client.createOrUpdateSynonymMapWithResponse(created, true, Context.NONE));
            Check.equal(updated.getETag(), client.listSynonymMaps().iterator().next().getETag());
        });
    }

    void indexes() throws InterruptedException {
        Scenario.run("create an index from an annotated class", () -> {
            var index = Hotels.index(Hotels.INDEX);
            var response = client.createIndexWithResponse(index, Context.NONE);
            Check.equal(201, response.getStatusCode());
            var created = response.getValue();
            Check.equal(Hotels.INDEX, created.getName());
            Check.holds(created.getETag() != null, "it has an entity tag");
            Check.equal(names(index.getFields()), names(created.getFields()));
        });

        Scenario.run("get an index as it was defined", () -> {
            var index = client.getIndex(Hotels.INDEX);
            Check.equal(true, field(index, "hotelId").isKey());
            Check.equal(true, field(index, "internalNote").isHidden());
            Check.equal(false, field(index, "internalNote").isFilterable());
            Check.equal(SearchFieldDataType.INT64, field(index, "visitors").getType());
            Check.equal(SearchFieldDataType.DATE_TIME_OFFSET, field(index, "lastRenovationDate").getType());
            Check.equal(SearchFieldDataType.GEOGRAPHY_POINT, field(index, "location").getType());
            Check.equal(LexicalAnalyzerName.EN_LUCENE, field(index, "description").getAnalyzerName());
            Check.equal(List.of("lodging"), field(index, "description").getSynonymMapNames());
            Check.equal(3, field(index, "descriptionVector").getVectorSearchDimensions());
            Check.equal("nearest", field(index, "descriptionVector").getVectorSearchProfileName());
            Check.equal(SearchFieldDataType.collection(SearchFieldDataType.COMPLEX), field(index, "rooms").getType());
            // The SDK goes by the methods of a record, which are in no particular order.
            var rooms = names(field(index, "rooms").getFields());
            Check.equal(List.of("baseRate", "type"), rooms.stream().sorted().toList());
            Check.equal(List.of("hotelName", "category"), index.getSuggesters().get(0).getSourceFields());
            var profiles = index.getScoringProfiles();
            Check.equal(Map.of("hotelName", 10.0), profiles.get(0).getTextWeights().getWeights());
            var near = (DistanceScoringFunction) profiles.get(1).getFunctions().get(0);
            Check.equal("here", near.getParameters().getReferencePointParameter());
            Check.equal(100.0, near.getParameters().getBoostingDistance());
            var folded = (CustomAnalyzer) index.getAnalyzers().get(0);
            Check.equal(LexicalTokenizerName.STANDARD, folded.getTokenizer());
            Check.equal(List.of(TokenFilterName.LOWERCASE, TokenFilterName.ASCII_FOLDING), folded.getTokenFilters());
            var readable = index.getSemanticSearch().getConfigurations().get(0).getPrioritizedFields();
            Check.equal("hotelName", readable.getTitleField().getFieldName());
            var graph = (HnswAlgorithmConfiguration) index.getVectorSearch().getAlgorithms().get(0);
            Check.equal(VectorSearchAlgorithmMetric.COSINE, graph.getParameters().getMetric());
            Check.equal("graph", index.getVectorSearch().getProfiles().get(0).getAlgorithmConfigurationName());
        });

        Scenario.run("list indexes", () -> {
            Check.equal(List.of(Hotels.INDEX), client.listIndexNames().stream().toList());
            var listed = client.listIndexes().stream().toList();
            Check.equal(1, listed.size());
            Check.equal(names(client.getIndex(Hotels.INDEX).getFields()), names(listed.get(0).getFields()));
        });

        Scenario.run("add a field to an index", () -> {
            var index = client.getIndex(Hotels.INDEX);
            index.getFields().add(new SearchField("stars", SearchFieldDataType.DOUBLE).setFilterable(true));
            var updated = client.createOrUpdateIndexWithResponse(index, false, true, Context.NONE).getValue();
            Check.equal("stars", names(updated.getFields()).get(index.getFields().size() - 1));
            changed(() -> client.createOrUpdateIndexWithResponse(index, false, true, Context.NONE));
        });
    }

    void analysis() throws InterruptedException {
        Scenario.run("analyze text", () -> {
            Check.equal(List.of("the", "swimming", "pools"),
                tokens(new AnalyzeTextOptions("The Swimming pools", LexicalAnalyzerName.STANDARD_LUCENE)));
            Check.equal(List.of("swim", "pool"),
                tokens(new AnalyzeTextOptions("The Swimming pools", LexicalAnalyzerName.EN_LUCENE)));
            Check.equal(List.of("creme", "brulee"),
                tokens(new AnalyzeTextOptions("Crème Brûlée", LexicalAnalyzerName.fromString("folded"))));
            Check.equal(List.of("ONE", "TWO"),
                tokens(new AnalyzeTextOptions("One Two", LexicalTokenizerName.WHITESPACE)
                    .setTokenFilters(TokenFilterName.UPPERCASE)));
            var placed = client.analyzeText(Hotels.INDEX, new AnalyzeTextOptions("a  bc", LexicalAnalyzerName.SIMPLE));
            Check.equal(
                List.of(List.of(0, 1, 0), List.of(3, 5, 1)),
                placed.stream()
                    .map(token -> List.of(token.getStartOffset(), token.getEndOffset(), token.getPosition()))
                    .toList());
        });
    }

    void statistics() throws InterruptedException {
        Scenario.run("read statistics", () -> {
            var index = client.getIndexStatistics(Hotels.INDEX);
            Check.equal(5L, index.getDocumentCount());
            Check.holds(index.getStorageSize() > 0, "the documents take room");
            var service = client.getServiceStatistics();
            Check.equal(2L, service.getCounters().getIndexCounter().getUsage());
            Check.equal(1L, service.getCounters().getSynonymMapCounter().getUsage());
            Check.holds(service.getLimits().getMaxFieldsPerIndex() > 0, "the number of fields is limited");
        });
    }

    void deletion() throws InterruptedException {
        Scenario.run("delete an index and a synonym map", () -> {
            var index = client.getIndex(Hotels.INDEX);
            var tag = index.getETag();
            changed(() -> client.deleteIndexWithResponse(index.setETag("\"0x0\""), true, Context.NONE));
            client.deleteIndexWithResponse(index.setETag(tag), true, Context.NONE);
            var gone = Check.throwing(HttpResponseException.class, () -> client.getIndex(Hotels.INDEX));
            Check.equal(404, gone.getResponse().getStatusCode());
            client.deleteSynonymMap("lodging");
            Check.equal(0L, client.listSynonymMapNames().stream().count());
        });
    }

    /** Expects the call to be refused because the definition has changed since it was read. */
    private static void changed(Callable<?> call) {
        var refused = Check.throwing(HttpResponseException.class, call);
        Check.equal(412, refused.getResponse().getStatusCode());
    }

    private List<String> tokens(AnalyzeTextOptions options) {
        return client.analyzeText(Hotels.INDEX, options).stream().map(AnalyzedTokenInfo::getToken).toList();
    }

    private static List<String> names(List<SearchField> fields) {
        return fields.stream().map(SearchField::getName).toList();
    }

    private static SearchField field(SearchIndex index, String name) {
        return index.getFields().stream().filter(field -> field.getName().equals(name)).findFirst().orElseThrow();
    }
}
