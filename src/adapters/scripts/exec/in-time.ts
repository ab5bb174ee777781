import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';

/** A program has not answered in time; it may be slow. */
export class AnswerLate extends RuntimeFailure {
  override name = 'AnswerLate';
}

/** The work's outcome. After so many seconds it throws `AnswerLate` and calls `end`; null: no limit. */
export async function inTime<T>(
  work: Promise<T>,
  seconds: number | null,
  end: () => Promise<void>,
): Promise<T> {
  if (seconds === null) return await work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new AnswerLate(`a program in the container did not answer within ${seconds} s`));
      void end();
    }, seconds * 1000);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
