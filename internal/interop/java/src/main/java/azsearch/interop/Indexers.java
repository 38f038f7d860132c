package azsearch.interop;

import com.azure.core.exception.HttpResponseException;
import com.azure.search.documents.indexes.SearchIndexerClient;
import com.azure.search.documents.indexes.models.FieldMapping;
import com.azure.search.documents.indexes.models.IndexerExecutionStatus;
import com.azure.search.documents.indexes.models.InputFieldMappingEntry;
import com.azure.search.documents.indexes.models.OutputFieldMappingEntry;
import com.azure.search.documents.indexes.models.SearchIndexer;
import com.azure.search.documents.indexes.models.SearchIndexerDataContainer;
import com.azure.search.documents.indexes.models.SearchIndexerDataSourceConnection;
import com.azure.search.documents.indexes.models.SearchIndexerDataSourceType;
import com.azure.search.documents.indexes.models.SearchIndexerSkill;
import com.azure.search.documents.indexes.models.SearchIndexerSkillset;
import com.azure.search.documents.indexes.models.SplitSkill;
import com.azure.search.documents.indexes.models.WebApiSkill;
import java.util.List;

/** What fills indexes: data sources, skillsets, indexers. */
final class Indexers {
    private static final String CONNECTION =
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net";

    private final SearchIndexerClient client;

    Indexers(Service service) {
        client = service.indexers();
    }

    void run() throws InterruptedException {
        Scenario.run("create, get, list and update a data source", () -> {
            client.createDataSourceConnection(new SearchIndexerDataSourceConnection("files",
                SearchIndexerDataSourceType.AZURE_BLOB, CONNECTION, new SearchIndexerDataContainer("hotels")));
            var got = client.getDataSourceConnection("files");
            Check.equal("hotels", got.getContainer().getName());
            Check.equal(List.of("files"), client.listDataSourceConnectionNames().stream().toList());
            got.setDescription("descriptions").setConnectionString(CONNECTION);
            Check.equal("descriptions", client.createOrUpdateDataSourceConnection(got).getDescription());
        });

        Scenario.run("create, get and list a skillset", () -> {
            var inputs = List.of(new InputFieldMappingEntry("text").setSource("/document/content"));
            List<SearchIndexerSkill> skills = List.of(
                new SplitSkill(inputs, List.of(new OutputFieldMappingEntry("textItems").setTargetName("pages"))).setMaximumPageLength(500),
                new WebApiSkill(inputs, List.of(new OutputFieldMappingEntry("x")), "https://h.example/api"));
            client.createSkillset(new SearchIndexerSkillset("pages", skills));
            var got = client.getSkillset("pages").getSkills();
            Check.equal(500, ((SplitSkill) got.get(0)).getMaximumPageLength());
            Check.equal("https://h.example/api", ((WebApiSkill) got.get(1)).getUri());
            Check.equal(List.of("pages"), client.listSkillsetNames().stream().toList());
        });

        Scenario.run("create, get, list and reset an indexer", () -> {
            Check.throwing(HttpResponseException.class, () -> client.createIndexer(new SearchIndexer("x", "none", "hotels")));
            client.createIndexer(new SearchIndexer("hotels", "files", "hotels").setSkillsetName("pages").setIsDisabled(true)
                .setFieldMappings(new FieldMapping("content").setTargetFieldName("description")));
            Check.equal("description", client.getIndexer("hotels").getFieldMappings().get(0).getTargetFieldName());
            Check.equal(List.of("hotels"), client.listIndexerNames().stream().toList());
            client.resetIndexer("hotels");
            Check.equal(IndexerExecutionStatus.RESET, client.getIndexerStatus("hotels").getLastResult().getStatus());
            client.runIndexer("hotels");
        });

        Scenario.run("delete an indexer and what it needs", () -> {
            client.deleteIndexer("hotels");
            client.deleteSkillset("pages");
            client.deleteDataSourceConnection("files");
            Check.equal(List.of(), client.listIndexerNames().stream().toList());
        });
    }
}
