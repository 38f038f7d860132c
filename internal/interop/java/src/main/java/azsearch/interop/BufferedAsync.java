package azsearch.interop;

import com.azure.search.documents.indexes.SearchIndexAsyncClient;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/** Documents that go through the buffered sender of the asynchronous client. */
final class BufferedAsync {
    private final Service service;
    private final SearchIndexAsyncClient indexes;

    BufferedAsync(Service service) {
        this.service = service;
        indexes = service.indexesAsync();
    }

    void run() throws InterruptedException {
        Scenario.run("send documents through the asynchronous buffered sender", () -> {
            indexes.createIndex(NumberDocument.index("buffered")).block();
            var client = service.documentsAsync("buffered");
            var reported = new Reported();
            var sender = reported.sender(service.client("buffered"))
                .autoFlush(false).initialBatchActionCount(50).buildAsyncSender();

            sender.addUploadActions(NumberDocument.upTo(121)).block();
            Check.equal(121, reported.added.size());
            Check.equal(List.of(), reported.sent);
            sender.flush().block();
            Check.equal(100, reported.succeeded.size());
            Check.equal(21, sender.getActions().size());
            sender.flush().block();
            Check.equal(reported.added, reported.succeeded);

            Mono.when(
                    sender.addMergeActions(List.of(new NumberDocument("n1", -1))),
                    sender.addMergeOrUploadActions(List.of(new NumberDocument("n2", -2))),
                    sender.addDeleteActions(List.of(NumberDocument.of(120))))
                .then(Mono.defer(sender::close))
                .block();
            Check.equal(List.of(), reported.failed);
            Check.equal(120L, client.getDocumentCount().block());
            Check.equal(-1, client.getDocument("n1", NumberDocument.class).block().number());
            Check.equal(-2, client.getDocument("n2", NumberDocument.class).block().number());
            indexes.deleteIndex("buffered").block();
        });

        Scenario.run("send documents through the asynchronous buffered sender to a failing service", () -> {
            indexes.createIndex(NumberDocument.index("sick-async")).block();
            var reported = new Reported();
            var sender = reported.sender(service.client("sick-async"))
                .autoFlush(false)
                .initialBatchActionCount(32)
                .maxRetriesPerAction(2)
                .throttlingDelay(Duration.ofMillis(1))
                .maxThrottlingDelay(Duration.ofMillis(2))
                .buildAsyncSender();
            sender.addUploadActions(NumberDocument.upTo(32)).then(Mono.defer(sender::close)).block();

            Check.equal(List.of(), List.copyOf(sender.getActions()));
            Check.equal(Buffered.REFUSED, reported.failed);
            Check.equal(30, reported.succeeded.size());
            Check.equal(30L, service.documentsAsync("sick-async").getDocumentCount().block());
            indexes.deleteIndex("sick-async").block();
        });
    }
}
