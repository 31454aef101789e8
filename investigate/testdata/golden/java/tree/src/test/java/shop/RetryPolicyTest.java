package shop;

class RetryPolicyTest {
    void givesUp() {
        new RetryPolicy(null).next(9);
    }
}
