import type { GlobalOptions } from '../options.ts';
import type { Io } from './io.ts';

/** What a note on standard error depends on. */
export type Notes = { readonly io: Io; readonly options: Pick<GlobalOptions, 'output'> };

/** Returns a function that prints the text once; never with `-o json`, whose reader expects the failure alone. */
export function noteOnce({ io, options }: Notes, text: string): () => void {
  let isDone = options.output === 'json';
  return () => {
    if (!isDone) io.err.write(`${text}\n`);
    isDone = true;
  };
}
