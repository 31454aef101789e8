mod retry;

use crate::retry::{Policy, RetryPolicy};

fn main() {
    let policy = RetryPolicy { name: "fn no() {" };
    policy.next(1);
}
