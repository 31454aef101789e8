import { RetryPolicy } from './retry'

export function App() {
  const policy = new RetryPolicy()
  return <p>{policy.nextDelay(1)} don't</p>
}
