import { Parser } from 'tap-parser';

/**
 * Counts the innermost named tests in tap's output, not their assertions.
 * @typedef {{ passed: number, failed: number, skipped: number }} Tally
 * @typedef {{ path: string, detail: string }} Failure
 * @typedef {{ name: string, ok: boolean, ms: number, skip: string | null, failures: readonly Failure[], counts: Tally }} FileResult
 * @typedef {import('tap-parser').Result} Result
 * @typedef {{ tests: number, failedTests: number, failures: number, skips: number, others: number }} Seen
 */

/**
 * A stream for the output of a test process. `onFile` gets each file's result; `unfinished` is the rest after the last
 * one. With `failSkips` a skipped test fails, with the reason of the skip.
 * @param {(file: FileResult) => void} onFile
 * @param {{ failSkips?: boolean }} [options]
 * @returns {{ parser: Parser, unfinished: () => Pick<FileResult, 'failures' | 'counts'> }}
 */
export function tallying(onFile, { failSkips = false } = {}) {
  const parser = new Parser();
  const tally = { passed: 0, failed: 0, skipped: 0 };
  /** @type {Failure[]} */
  let failures = [];
  let before = { ...tally };
  follow(parser, [], {
    tally,
    failSkips,
    fail: (failure) => failures.push(failure),
    file: (point, name) => {
      const counts = since(before, tally);
      const ok = point.ok && counts.failed === 0;
      onFile({ name, ok, ms: point.time ?? 0, skip: ok ? skipReason(point) : null, failures, counts });
      failures = [];
      before = { ...tally };
    },
  });
  return { parser, unfinished: () => ({ failures, counts: since(before, tally) }) };
}

/**
 * @param {Tally} before
 * @param {Tally} after
 * @returns {Tally}
 */
const since = (before, after) => ({
  passed: after.passed - before.passed,
  failed: after.failed - before.failed,
  skipped: after.skipped - before.skipped,
});

/**
 * @typedef {{ tally: Tally, failSkips: boolean, fail: (failure: Failure) => void }} Sink
 * @param {Parser} parser
 * @param {readonly string[]} path
 * @param {Sink & { file?: (point: Result, name: string) => void }} sink
 * @returns {Seen}
 */
function follow(parser, path, { file, ...sink }) {
  const { tally, failSkips, fail } = sink;
  /** @type {Seen} */
  const seen = { tests: 0, failedTests: 0, failures: 0, skips: 0, others: 0 };
  /** @type {Seen | null} */
  let child = null;
  let childName = '';
  parser.on('child', (inner) => {
    childName = inner.name;
    child = follow(inner, [...path, inner.name], sink);
  });
  parser.on('assert', (point) => {
    const verdict = verdictOf(point, child, failSkips);
    if (verdict === 'failed' && !child?.failures) fail(describe([...path, point.name], point));
    if (child !== null) countTest(seen, verdict, child, tally);
    else countAssertion(seen, verdict);
    // an error outside all tests counts for the file that ends next
    if (file && child === null && verdict === 'failed') tally.failed += 1;
    if (child !== null) file?.(point, childName);
    child = null;
  });
  return seen;
}

/**
 * @param {Result} point
 * @param {Seen | null} inner
 * @param {boolean} failSkips
 * @returns {keyof Tally}
 */
function verdictOf(point, inner, failSkips) {
  if (skipReason(point) !== null) return failSkips ? 'failed' : 'skipped';
  if (inner !== null && failSkips && inner.failures > 0) return 'failed';
  if (!point.ok) return 'failed';
  const onlySkips = inner !== null && inner.tests === 0 && inner.skips > 0 && inner.others === 0;
  return onlySkips ? 'skipped' : 'passed';
}

/**
 * @param {Seen} seen
 * @param {keyof Tally} verdict
 */
function countAssertion(seen, verdict) {
  if (verdict === 'skipped') seen.skips += 1;
  else seen.others += 1;
  if (verdict === 'failed') seen.failures += 1;
}

/**
 * A test with subtests counts only if it fails itself, by an assertion or a crash between them.
 * @param {Seen} seen
 * @param {keyof Tally} verdict
 * @param {Seen} inner
 * @param {Tally} tally
 */
function countTest(seen, verdict, inner, tally) {
  seen.tests += 1;
  if (verdict === 'failed') {
    seen.failures += 1;
    seen.failedTests += 1;
  }
  if (inner.tests === 0) tally[verdict] += 1;
  else {
    tally.skipped += inner.skips;
    if (verdict === 'failed' && inner.failedTests === 0) tally.failed += 1;
  }
}

/**
 * @param {readonly string[]} path
 * @param {Result} point
 * @returns {Failure}
 */
const describe = (path, point) => ({
  // a name made from a message may be long
  path: path.join(' > ').slice(0, 300),
  detail: Object.entries({ skipped: skipReason(point) ?? undefined, ...point.diag })
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        `${key}: ${typeof value === 'string' ? `\n${value}`.trimEnd() : JSON.stringify(value)}`,
    )
    .join('\n'),
});

/** @param {Result} point */
const skipReason = ({ skip, todo }) =>
  [skip, todo].filter(Boolean).map((reason) => (reason === true ? 'no reason given' : `${reason}`))[0] ??
  null;

/** @param {Tally} tally */
export const summary = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
