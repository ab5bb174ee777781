const SLOW_MS = 1_000;
const REPEAT_MS = 15_000;

/** Prints a line for the person who started the service; the log is separate. */
export const say = (line: string): void => {
  process.stdout.write(`${line.charAt(0).toUpperCase()}${line.slice(1)}\n`);
};

/** Announces a step that takes over a second, and its duration at the end. */
export async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const seconds = (): string => ((performance.now() - start) / 1000).toFixed(0);
  let announced = false;
  const announce = (): void => {
    say(announced ? `${name} … ${seconds()} s` : `${name} …`);
    announced = true;
    timer = setTimeout(announce, REPEAT_MS);
  };
  let timer = setTimeout(announce, SLOW_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (announced) say(`${name} … done in ${seconds()} s`);
  }
}
