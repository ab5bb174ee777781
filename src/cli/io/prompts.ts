import { askLine, askSecret, NoAnswer } from '../../prompts/ask.ts';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import { canAsk, type Io, printable } from './io.ts';
import { type Notes, noteOnce } from './notes.ts';

export type Prompts = {
  /** Whether somebody can answer. */
  readonly possible: boolean;
  line(question: string): Promise<string>;
  /** What is typed is not shown. */
  secret(question: string): Promise<string>;
  /** A change that cannot simply be undone. Without a terminal it needs `--yes`. */
  confirm(question: string, yes: boolean): Promise<void>;
  /** One of several, by number or name. */
  pick<T>(what: string, items: readonly T[], name: (item: T) => string): Promise<T>;
};

export function prompts(io: Io): Prompts {
  const possible = canAsk(io);
  const on = { input: io.in, output: io.err };
  const line = (question: string) => answered(askLine(on, question));
  return {
    possible,
    line,
    secret: (question) => answered(askSecret(on, question)),
    async confirm(question, yes) {
      if (yes) return;
      if (!possible) throw usageError(`${question} There is no terminal to ask on.`, 'Repeat it with --yes.');
      const answer = await line(`${question} [y/N] `);
      if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.', { code: 'declined' });
    },
    async pick(what, items, name) {
      const names = items.map((item) => printable(name(item)));
      const numbered = names.map((each, index) => `${String(index + 1).padStart(3)}  ${each}\n`);
      io.err.write(numbered.join(''));
      const answer = (await line(`Which ${what}? `)).trim();
      const index = names.includes(answer) ? names.indexOf(answer) : Number(answer) - 1;
      const picked = items[index];
      if (answer === '' || picked === undefined) throw usageError(`No ${what} was chosen.`);
      return picked;
    },
  };
}

async function answered(asking: Promise<string>): Promise<string> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw error.why === 'interrupted'
      ? new CliError('interrupted', { exit: EXIT.interrupted, code: 'interrupted' })
      : new CliError('No answer was given.', { code: 'declined' });
  }
}

const NOTE_AFTER_MS = 1000;

/** A secret that is piped in, in one line. After a second it prints what it waits for. */
export async function pipedSecret(cli: Notes, what: string, maxBytes: number): Promise<string> {
  const timer = setTimeout(noteOnce(cli, `Waiting for the ${what} on standard input…`), NOTE_AFTER_MS);
  try {
    return (await readAll(cli.io, maxBytes)).trim();
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(io: Io, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.in as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw usageError(`Standard input is longer than ${maxBytes} bytes.`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
