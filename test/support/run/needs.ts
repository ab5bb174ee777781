import type { Test } from 'tap';
import { ask, type Need, type Parts } from './infra.ts';

/**
 * The part that a test needs. Where this machine cannot have it, the test is skipped with the reason and the answer is
 * null. With REQUIRE_ALL=1 the runner counts every skip as a failure.
 */
export async function needs<N extends Need>(t: Test, need: N): Promise<Parts[N] | null> {
  const answer = await ask(need);
  if (answer.ok) return answer.value;
  const reason = `no ${need}: ${answer.reason}`;
  t.pass(need, { skip: reason });
  return null;
}
