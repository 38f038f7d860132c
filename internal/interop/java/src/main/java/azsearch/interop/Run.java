package azsearch.interop;

import com.azure.search.documents.SearchServiceVersion;
import java.nio.file.Path;

/**
 * Run ENDPOINT ADMIN-KEY QUERY-KEY CERTIFICATE API-VERSION lets Azure's SDK drive the service at ENDPOINT, which must
 * be empty and has that certificate, and prints a line for each scenario.
 */
public final class Run {
    private Run() {
    }

    public static void main(String[] args) throws Exception {
        var service = new Service(args[0], args[1], args[2], version(args[4]), Service.trusting(Path.of(args[3])));
        var definitions = new Definitions(service);
        var documents = new Documents(service);
        var queries = new Queries(service);
        var suggestions = new Suggestions(service);
        var buffered = new Buffered(service);

        // In this order: each continues with the state that the earlier ones left.
        definitions.synonyms();
        definitions.indexes();
        documents.uploads();
        documents.lookups();
        queries.text();
        queries.selection();
        queries.extras();
        suggestions.suggest();
        suggestions.autocomplete();
        new Vectors(service).run();
        definitions.analysis();
        documents.changes();
        buffered.run();
        buffered.sick();
        new Paging(service).run();
        definitions.statistics();
        new Asynchronous(service).run();
        new BufferedAsync(service).run();
        new Indexers(service).run();
        new Refusals(service).run();
        definitions.deletion();

        System.exit(Scenario.anyFailed() ? 1 : 0); // the pools of the clients have threads that would stay
    }

    private static SearchServiceVersion version(String name) {
        for (var version : SearchServiceVersion.values()) {
            if (version.getVersion().equals(name)) {
                return version;
            }
        }
        throw new IllegalArgumentException("the SDK does not know api-version " + name);
    }
}
