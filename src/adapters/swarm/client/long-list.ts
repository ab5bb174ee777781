import { forEachAtMost } from '../../../concurrency/pool.ts';
import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';
import { AnswerTooLong } from '../../docker/engine/answer-limit.ts';

/** About a tenth of what one answer can contain: a manager's has at most 16 MB, some 5,000 services. */
const MAX_PER_REQUEST = 500;
const MOST_DIGITS = 4;
const PARTS_AT_A_TIME = 4;
const DIGITS = [...'0123456789abcdef'];

/**
 * Lists objects by name prefix, in as many requests as the last count needs, and in more when an answer is too long.
 * `read`: the objects whose names continue with these hexadecimal digits.
 */
export function listByPrefix<T>(
  read: (digits: string) => Promise<readonly T[]>,
): () => Promise<readonly T[]> {
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
  count <= MAX_PER_REQUEST ? 0 : 1 + digitsFor(count / DIGITS.length);

/** The words of gRPC between a manager and its leader are its only sign. */
const isTooLong = (error: unknown): boolean =>
  error instanceof Error &&
  (error.cause instanceof AnswerTooLong ||
    (error instanceof RuntimeFailure && /received message larger than max/i.test(error.message)));
