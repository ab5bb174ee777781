import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import { canAsk, type Io, isTerminal, printable } from './io.ts';

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
  const line = (question: string) => ask(io, question, io.err);
  return {
    possible,
    line,
    async secret(question) {
      // Shown once the terminal echoes nothing: a fast answer would be shown otherwise.
      const answer = await ask(io, '', SILENT, () => io.err.write(question));
      io.err.write('\n');
      return answer;
    },
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

/** Takes what the line editor would show. */
const SILENT = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { isTTY: true });

async function ask(
  io: Io,
  question: string,
  output: NodeJS.WritableStream,
  onReady: () => void = () => undefined,
): Promise<string> {
  const lines = createInterface({ input: io.in, output, terminal: isTerminal(io.in), historySize: 0 });
  onReady();
  const interrupted = new Promise<never>((_resolve, reject) => {
    lines.once('SIGINT', () => {
      io.err.write('\n');
      reject(new CliError('interrupted', { exit: EXIT.interrupted, code: 'interrupted' }));
    });
    lines.once('close', () => reject(new CliError('No answer was given.', { code: 'declined' })));
  });
  try {
    return await Promise.race([lines.question(question), interrupted]);
  } finally {
    lines.close();
  }
}

/** All of standard input: a secret or a file that is piped in. */
export async function readAll(io: Io, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of io.in as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw usageError(`Standard input is longer than ${maxBytes} bytes.`);
  }
  return Buffer.concat(chunks).toString('utf8');
}
