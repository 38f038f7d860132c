package azsearch.interop;

import com.azure.core.exception.HttpResponseException;
import com.azure.search.documents.indexes.SearchIndexClient;
import java.time.Duration;
import java.util.List;

/** Documents that go through the buffered sender. */
final class Buffered {
    /** What both senders say of the documents that faults.json refuses for good. */
    static final List<String> REFUSED =
        List.of("n5 400", "n4 422 Document has reached retry limit and won't be tried again.");

    private final Service service;
    private final SearchIndexClient indexes;

    Buffered(Service service) {
        this.service = service;
        indexes = service.indexes();
    }

    void run() throws InterruptedException {
        Scenario.run("send documents through the buffered sender", () -> {
            indexes.createIndex(NumberDocument.index(NumberDocument.INDEX));
            var client = service.documents(NumberDocument.INDEX);
            var reported = new Reported();
            var sender = reported.sender(service.client(NumberDocument.INDEX))
                .autoFlush(false).initialBatchActionCount(50).buildSender();

            sender.addUploadActions(NumberDocument.upTo(121));
            Check.equal(121, reported.added.size());
            Check.equal(List.of(), reported.sent);
            // A flush sends less than a batch only where there is no more than that.
            sender.flush();
            Check.equal(100, reported.succeeded.size());
            Check.equal(21, sender.getActions().size());
            sender.flush();
            Check.equal(reported.added, reported.succeeded);

            sender.addMergeActions(List.of(new NumberDocument("n1", -1)));
            sender.addMergeOrUploadActions(List.of(new NumberDocument("n2", -2)));
            sender.addDeleteActions(List.of(NumberDocument.of(120)));
            sender.close();
            Check.equal(List.of("n1", "n2", "n120"), reported.sent.subList(121, reported.sent.size()));
            Check.equal(List.of(), reported.failed);
            Check.throwing(IllegalStateException.class, () -> {
                sender.flush();
                return "no exception";
            });

            Check.equal((long) NumberDocument.COUNT, client.getDocumentCount());
            Check.equal(-1, client.getDocument("n1", NumberDocument.class).number());
            Check.equal(-2, client.getDocument("n2", NumberDocument.class).number());
        });

        Scenario.run("send documents as they come through the buffered sender", () -> {
            var client = service.documents(NumberDocument.INDEX);
            var sender = new Reported().sender(service.client(NumberDocument.INDEX))
                .initialBatchActionCount(2).buildSender();
            try {
                sender.addUploadActions(List.of(NumberDocument.of(1)));
                Check.equal(-1, client.getDocument("n1", NumberDocument.class).number());
                sender.addUploadActions(List.of(NumberDocument.of(2))); // fills the batch
                Check.equal(1, client.getDocument("n1", NumberDocument.class).number());
            } finally {
                sender.close(); // ends its timer
            }
            Check.equal(2, client.getDocument("n2", NumberDocument.class).number());
        });
    }

    /** Needs faults.json, which refuses requests and documents in all the ways that a sender knows. */
    void sick() throws InterruptedException {
        Scenario.run("send documents through the buffered sender to a failing service", () -> {
            indexes.createIndex(NumberDocument.index("sick"));
            var reported = new Reported();
            var sender = reported.sender(service.client("sick"))
                .autoFlush(false)
                .initialBatchActionCount(32)
                .maxRetriesPerAction(2)
                .throttlingDelay(Duration.ofMillis(1))
                .maxThrottlingDelay(Duration.ofMillis(2))
                .buildSender();
            sender.addUploadActions(NumberDocument.upTo(32));
            sender.close();

            Check.equal(List.of(), List.copyOf(sender.getActions()));
            Check.equal(REFUSED, reported.failed);
            Check.equal(30, reported.succeeded.size());
            // Twice 503 for all and then 413, until eight of them are small enough.
            Check.equal(reported.added, reported.sent.subList(64, 96));
            Check.equal(reported.added.subList(0, 8), reported.sent.subList(112, 120));
        });

        Scenario.run("try again when a failing service has refused", () -> {
            var count = Check.throwing(HttpResponseException.class, () -> service.documents("sick").getDocumentCount());
            Check.equal(503, count.getResponse().getStatusCode());
            var patient = service.client("sick").retryOptions(Service.retries(1)).buildClient();
            Check.equal(30L, patient.getDocumentCount());
            indexes.deleteIndex("sick");
        });
    }
}
