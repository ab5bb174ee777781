import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Nobody answered. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly why: 'interrupted' | 'ended';

  constructor(why: 'interrupted' | 'ended') {
    super(`no answer: ${why}`);
    this.why = why;
  }
}

export type AskedOn = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WritableStream };

/** Asks for a line. Throws `NoAnswer`. */
export const askLine = ({ input, output }: AskedOn, question: string): Promise<string> =>
  ask(input, output, output, question, () => {});

/** Asks for a line that is not shown on a terminal. Throws `NoAnswer`. */
export async function askSecret({ input, output }: AskedOn, question: string): Promise<string> {
  // Shown once the terminal echoes nothing: a fast answer would be shown otherwise.
  const answer = await ask(input, SILENT, output, '', () => output.write(question));
  output.write('\n');
  return answer;
}

/** Receives what the line editor would show, and shows nothing. */
const SILENT = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { isTTY: true });

async function ask(
  input: NodeJS.ReadStream,
  echo: NodeJS.WritableStream,
  output: NodeJS.WritableStream,
  question: string,
  onReady: () => void,
): Promise<string> {
  const lines = createInterface({ input, output: echo, terminal: input.isTTY === true, historySize: 0 });
  onReady();
  const noAnswer = new Promise<never>((_resolve, reject) => {
    lines.once('SIGINT', () => {
      output.write('\n');
      reject(new NoAnswer('interrupted'));
    });
    lines.once('close', () => reject(new NoAnswer('ended')));
  });
  try {
    return await Promise.race([lines.question(question), noAnswer]);
  } finally {
    lines.close();
  }
}
