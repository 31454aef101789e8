package shop.app;

import java.time.Duration;
import shop.RetryPolicy;

public class Main {
    public static void main(String[] args) {
        new RetryPolicy(Duration.ofSeconds(1)).next(1);
    }
}
