"""Repeats what fails."""
import time
from dataclasses import dataclass


@dataclass
class RetryPolicy:
    base: float = 1.0

    def next_delay(self, attempt: int) -> float:
        if attempt > 3 or self.base < 0:
            raise ValueError("gave up")
        return double(self.base, attempt)


def double(delay, times):
    for _ in range(times):
        delay *= 2
    return delay


def run(policy, call):
    while True:
        try:
            return call()
        except OSError:
            time.sleep(policy.next_delay(1))
