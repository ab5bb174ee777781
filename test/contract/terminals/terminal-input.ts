import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { PtyStream, TerminalRequest } from '../../../src/ports/terminals/terminal-backend.ts';
import { intoFile, mixedUtf8, piecesOf, sha256 } from '../../support/terminal/terminal-client.ts';
import { aTerminal, type OpenTerminals, reader } from './terminal-backend.ts';

export type TypedInto = OpenTerminals & {
  readonly shell: string;
  /** For files; default /workspace. */
  readonly folder?: string;
  /** Returns a command's output in the same container. */
  sh(script: string): Promise<string>;
};

const folderOf = ({ folder = '/workspace' }: TypedInto): string => folder;

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const LONE = Buffer.from('c3 41 c3 1b 41 f0 9f e2 82 1b e2 ff c3'.replaceAll(' ', ''), 'hex');

/** Input is bytes, however they are cut: true of every terminal whose program reads them raw. */
export async function terminalInput(t: Test, name: string, box: TypedInto): Promise<void> {
  await firstLines(t, name, box);
  await t.test(`${name}: every byte arrives, invalid UTF-8 and pieces cut within characters included`, (t) =>
    pasted(t, box),
  );
}

export const firstLines = (t: Test, name: string, box: TypedInto) =>
  t.test(`${name}: lines typed byte by byte arrive from the first moment`, (t) => typedAtOnce(t, box));

/** All bytes at once, then with time between them: each meets another moment of the start. */
async function typedAtOnce(t: Test, box: TypedInto): Promise<void> {
  const lines = [0, 1].map((at) => `grüße-漢字-😀-${at}`);
  const open: PtyStream[] = [];
  for (const [at, line] of lines.entries()) {
    const pty = await opened(box, `at-once-${at}`);
    open.push(pty);
    const output = reader(pty);
    for (const byte of piecesOf(
      Buffer.from(`echo '${line}' >> ${folderOf(box)}/lines; echo typed-$((${at}+40))\r`),
      1,
    )) {
      pty.write(byte);
      // Typed, not pasted: the shell starts between two bytes.
      if (at === 1) await delay(1);
    }
    await output.until(`typed-${at + 40}`, 30);
  }
  t.same((await box.sh(`cat ${folderOf(box)}/lines; rm ${folderOf(box)}/lines`)).trim().split('\n'), lines);
  await Promise.all(open.map((pty, at) => gone(box, pty, `at-once-${at}`)));
}

type Paste = { readonly pieces: readonly Buffer[]; readonly everyMs?: number };

/** One after the other into one shell; nothing follows each last byte until it has arrived. */
async function pasted(t: Test, box: TypedInto): Promise<void> {
  const pastes: readonly Paste[] = [
    { pieces: [...piecesOf(EVERY_BYTE, 256), LONE] },
    { pieces: piecesOf(Buffer.concat([EVERY_BYTE, LONE]), 1), everyMs: 2 },
    ...[1, 7, 4_096].map((pieceBytes) => ({
      pieces: piecesOf(mixedUtf8(Math.min(pieceBytes * 1_000, 100_000)), pieceBytes),
    })),
  ];
  const pty = await opened(box, 'pasted');
  const output = reader(pty);
  await output.until(/[$#] /);
  const taken: (() => number)[] = [];
  for (const [at, paste] of pastes.entries())
    taken.push(await intoShell(t, pty, output, `${folderOf(box)}/pasted-${at}`, paste));
  const sums = await box.sh(
    `for n in ${[...pastes.keys()].join(' ')}; do sha256sum < ${folderOf(box)}/pasted-$n; done`,
  );
  const arrived = sums.split('\n').map((line) => line.split(' ')[0]);
  for (const [at, { pieces }] of pastes.entries()) {
    const all = Buffer.concat(pieces);
    t.equal(arrived[at], sha256(all), `${all.length} bytes in ${pieces.length} pieces`);
    t.equal(taken[at]?.(), all.length, 'and each was said to be there');
  }
  await gone(box, pty, 'pasted');
}

/** Returns the number of bytes that arrived. */
async function intoShell(
  t: Test,
  pty: PtyStream,
  output: ReturnType<typeof reader>,
  file: string,
  { pieces, everyMs = 0 }: Paste,
): Promise<() => number> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  pty.write(intoFile(file, size));
  await output.until('#START', 30);
  let taken = 0;
  for (const piece of pieces) {
    pty.write(piece, () => {
      taken += piece.length;
    });
    // A typing speed; nothing is waited for.
    if (everyMs > 0 || Math.random() < 0.01) await delay(everyMs);
  }
  await output.until(/#DONE[\s\S]*[$#]/, 60).catch((error: Error) => t.comment(error.message.slice(0, 200)));
  return () => taken;
}

const opened = ({ terminals, handle, shell }: TypedInto, session: string): Promise<PtyStream> => {
  const request: Partial<TerminalRequest> = { shell };
  return terminals.open(handle, aTerminal(session, request));
};

async function gone({ terminals, handle }: TypedInto, pty: PtyStream, session: string): Promise<void> {
  await pty.close();
  await terminals.killMuxSession(handle, session);
}
