import type { Test } from 'tap';
import { waitFor } from './patience.ts';

/** The hints of a watch, until `t` ends. */
export function hintsOf(t: Pick<Test, 'teardown'>, watch: (onHint: () => void) => () => void) {
  let count = 0;
  t.teardown(
    watch(() => {
      count += 1;
    }),
  );
  return {
    count: () => count,
    first: () => waitFor(() => count > 0, { what: 'a hint' }),
    /** Waits for one that comes after `act` has begun. */
    after: async (act: () => unknown, what = 'a hint after it') => {
      const before = count;
      await act();
      await waitFor(() => count > before, { what });
    },
  };
}
