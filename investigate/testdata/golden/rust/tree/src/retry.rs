use std::time::Duration;

/// Decides about the next attempt.
pub trait Policy {
    fn next(&self, attempt: u32) -> Option<Duration>;
}

pub struct RetryPolicy<'a> {
    pub name: &'a str,
}

impl<'a> Policy for RetryPolicy<'a> {
    fn next(&self, attempt: u32) -> Option<Duration> {
        match attempt {
            0..=3 => Some(double(attempt)),
            _ => None,
        }
    }
}

pub fn double(attempt: u32) -> Duration {
    Duration::from_secs(1 << attempt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_up() {
        assert!(RetryPolicy { name: "x" }.next(9).is_none());
    }
}
