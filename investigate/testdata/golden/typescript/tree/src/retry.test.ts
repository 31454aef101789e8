import { RetryPolicy } from './retry'

function givesUp() {
  new RetryPolicy().nextDelay(9)
}
