package azsearch.interop;

import com.azure.core.util.serializer.TypeReference;
import com.azure.search.documents.SearchClientBuilder;
import com.azure.search.documents.SearchClientBuilder.SearchIndexingBufferedSenderBuilder;
import com.azure.search.documents.models.IndexAction;
import com.azure.search.documents.options.OnActionErrorOptions;
import java.util.ArrayList;
import java.util.List;

/** The keys of the actions that a buffered sender has reported, in the order in which it did. */
final class Reported {
    final List<String> added = new ArrayList<>();
    final List<String> sent = new ArrayList<>();
    final List<String> succeeded = new ArrayList<>();

    /** The key, the status and, if the sender gave up, why. */
    final List<String> failed = new ArrayList<>();

    /** A builder of a sender that reports its actions here. */
    SearchIndexingBufferedSenderBuilder<NumberDocument> sender(SearchClientBuilder client) {
        return client.bufferedSender(TypeReference.createInstance(NumberDocument.class))
            .documentKeyRetriever(NumberDocument::id)
            .onActionAdded(action -> added.add(key(action.getAction())))
            .onActionSent(action -> sent.add(key(action.getIndexAction())))
            .onActionSucceeded(action -> succeeded.add(key(action.getIndexAction())))
            .onActionError(action -> failed.add(failure(action)));
    }

    private static String key(IndexAction<NumberDocument> action) {
        return action.getDocument().id();
    }

    private static String failure(OnActionErrorOptions<NumberDocument> action) {
        var failure = key(action.getAction()) + " " + action.getIndexingResult().getStatusCode();
        return action.getThrowable() == null ? failure : failure + " " + action.getThrowable().getMessage();
    }
}
