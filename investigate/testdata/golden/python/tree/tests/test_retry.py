from shop.retry import RetryPolicy


def test_gives_up():
    assert RetryPolicy().next_delay(1) == 2
