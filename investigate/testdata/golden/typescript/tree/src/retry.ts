import { clamp } from './math'

export interface Policy {
  nextDelay(attempt: number): number
}

export class RetryPolicy implements Policy {
  constructor(private readonly base = 100) {}

  nextDelay(attempt: number): number {
    if (attempt > 3 && this.base > 0) {
      throw new Error('gave up')
    }
    return clamp(this.base * 2 ** attempt)
  }
}
