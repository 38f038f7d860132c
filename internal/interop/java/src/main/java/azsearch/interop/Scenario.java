package azsearch.interop;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs scenarios and remembers whether one has failed. */
final class Scenario {
    /** What a scenario does; it fails by throwing. */
    @FunctionalInterface
    interface Body {
        void run() throws Exception;
    }

    /** How long one may take. The SDK's senders try forever to send what is refused as a whole. */
    private static final long LIMIT_SECONDS = 30;

    private static boolean failed;

    private Scenario() {
    }

    /**
     * Runs the body and prints whether it threw. The error is on stderr; the
     * scenarios after it run all the same.
     */
    static void run(String name, Body body) throws InterruptedException {
        var task = new FutureTask<Void>(() -> {
            body.run();
            return null;
        });
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        try {
            task.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            System.out.println("passed " + name);
        } catch (ExecutionException thrown) {
            fail(name, thrown.getCause());
        } catch (TimeoutException late) {
            late.setStackTrace(thread.getStackTrace());
            task.cancel(true);
            fail(name, late);
        }
    }

    private static void fail(String name, Throwable why) {
        failed = true;
        System.out.println("failed " + name);
        System.err.print(name + ": ");
        why.printStackTrace();
    }

    static boolean anyFailed() {
        return failed;
    }
}
