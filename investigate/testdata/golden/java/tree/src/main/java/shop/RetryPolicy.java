package shop;

import java.time.Duration;

/** Doubles the pause. */
public class RetryPolicy {
    private final Duration base;

    public RetryPolicy(Duration base) {
        this.base = base;
    }

    public Duration next(int attempt) {
        if (attempt > 3) {
            throw new IllegalStateException("gave up {");
        }
        return base.multipliedBy(1L << attempt);
    }
}
