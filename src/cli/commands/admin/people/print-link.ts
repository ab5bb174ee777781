import type { Cli } from '../../../cli.ts';

/** The link as it is, so that a program can read it. */
export function printLink<T>(cli: Cli, answer: T, url: string, words: string): void {
  cli.notify(words);
  if (cli.print.form === 'json') cli.print.one(answer, { columns: {}, name: () => url });
  else cli.print.text(url);
}
