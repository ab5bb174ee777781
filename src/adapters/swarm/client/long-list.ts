import { forEachAtMost } from '../../../concurrency/pool.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { AnswerTooLong } from '../../docker/engine/answer-limit.ts';

/** A manager answers with 16 MB at most, and the client reads at most 32 MiB: some 5,000 services. */
const MOST_IN_PART = 500;
const MOST_DIGITS = 4;
const PARTS_AT_A_TIME = 4;
const DIGITS = [...'0123456789abcdef'];

/**
 * A list of things whose names continue with hexadecimal digits, as long as it may be: read in parts by the first
 * digits, as many as its last length asks for. `read`: of all names that begin with some digits.
 */
export function longList<T>(read: (digits: string) => Promise<readonly T[]>): () => Promise<readonly T[]> {
  let count = 0;
  return async () => {
    for (let digits = digitsFor(count); ; digits += 1) {
      try {
        const all = await inParts(digits, read);
        count = all.length;
        return all;
      } catch (error) {
        if (digits === MOST_DIGITS || !isTooLong(error)) throw error;
      }
    }
  };
}

async function inParts<T>(
  digits: number,
  read: (digits: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  await forEachAtMost(PARTS_AT_A_TIME, beginnings(digits), async (each) => {
    all.push(...(await read(each)));
  });
  return all;
}

const beginnings = (digits: number): readonly string[] =>
  digits === 0 ? [''] : beginnings(digits - 1).flatMap((each) => DIGITS.map((digit) => each + digit));

const digitsFor = (count: number): number =>
  count <= MOST_IN_PART ? 0 : 1 + digitsFor(count / DIGITS.length);

/** The words of gRPC between a manager and its leader are its only sign. */
const isTooLong = (error: unknown): boolean =>
  error instanceof Error &&
  (error.cause instanceof AnswerTooLong ||
    (error instanceof RuntimeFailure && /received message larger than max/i.test(error.message)));
