import { RuntimeFailure } from '../../../ports/containers/container-runtime.ts';

/** The work's outcome. After so many seconds it throws `RuntimeFailure` and calls `end`; null: no limit. */
export async function inTime<T>(
  work: Promise<T>,
  seconds: number | null,
  end: () => Promise<void>,
): Promise<T> {
  if (seconds === null) return await work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new RuntimeFailure(`a program in the container did not answer within ${seconds} s`));
      void end();
    }, seconds * 1000);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
