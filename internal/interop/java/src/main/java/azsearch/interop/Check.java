package azsearch.interop;

import java.util.Objects;
import java.util.concurrent.Callable;

/** What a scenario expects, and says when it got something else. */
final class Check {
    private Check() {
    }

    static void equal(Object want, Object got) {
        if (!Objects.equals(want, got)) {
            throw new AssertionError("want %s, got %s".formatted(want, got));
        }
    }

    static void differ(Object one, Object other) {
        if (Objects.equals(one, other)) {
            throw new AssertionError("both are " + one);
        }
    }

    /** Compares scores, which the service computes with single precision. */
    static void near(double want, double got) {
        if (Math.abs(want - got) > 1e-6) {
            throw new AssertionError("want about %s, got %s".formatted(want, got));
        }
    }

    static void holds(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError("it does not hold that " + what);
        }
    }

    static void contains(String want, String got) {
        if (got == null || !got.contains(want)) {
            throw new AssertionError("want %s in %s".formatted(want, got));
        }
    }

    /** Runs the call and returns what it throws, of exactly that class. */
    static <E extends Throwable> E throwing(Class<E> want, Callable<?> call) {
        Object result;
        try {
            result = call.call();
        } catch (Throwable thrown) {
            if (thrown.getClass() == want) {
                return want.cast(thrown);
            }
            throw new AssertionError("want a " + want.getSimpleName(), thrown);
        }
        throw new AssertionError("want a %s, got %s".formatted(want.getSimpleName(), result));
    }
}
