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
            var told = new Told();
            var sender = told.sender(service.client("buffered"))
                .autoFlush(false).initialBatchActionCount(50).buildAsyncSender();

            sender.addUploadActions(NumberDocument.upTo(121)).block();
            Check.equal(121, told.added.size());
            Check.equal(List.of(), told.sent);
            sender.flush().block();
            Check.equal(100, told.succeeded.size());
            Check.equal(21, sender.getActions().size());
            sender.flush().block();
            Check.equal(told.added, told.succeeded);

            Mono.when(
                    sender.addMergeActions(List.of(new NumberDocument("n1", -1))),
                    sender.addMergeOrUploadActions(List.of(new NumberDocument("n2", -2))),
                    sender.addDeleteActions(List.of(NumberDocument.of(120))))
                .then(Mono.defer(sender::close))
                .block();
            Check.equal(List.of(), told.failed);
            Check.equal(120L, client.getDocumentCount().block());
            Check.equal(-1, client.getDocument("n1", NumberDocument.class).block().number());
            Check.equal(-2, client.getDocument("n2", NumberDocument.class).block().number());
            indexes.deleteIndex("buffered").block();
        });

        Scenario.run("send documents through the asynchronous buffered sender to a sick service", () -> {
            indexes.createIndex(NumberDocument.index("sick-async")).block();
            var told = new Told();
            var sender = told.sender(service.client("sick-async"))
                .autoFlush(false)
                .initialBatchActionCount(32)
                .maxRetriesPerAction(2)
                .throttlingDelay(Duration.ofMillis(1))
                .maxThrottlingDelay(Duration.ofMillis(2))
                .buildAsyncSender();
            sender.addUploadActions(NumberDocument.upTo(32)).then(Mono.defer(sender::close)).block();

            Check.equal(List.of(), List.copyOf(sender.getActions()));
            Check.equal(Buffered.REFUSED, told.failed);
            Check.equal(30, told.succeeded.size());
            Check.equal(30L, service.documentsAsync("sick-async").getDocumentCount().block());
            indexes.deleteIndex("sick-async").block();
        });
    }
}
