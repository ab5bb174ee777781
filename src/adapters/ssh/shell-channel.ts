import { setTimeout as delay } from 'node:timers/promises';
import type { ServerChannel } from 'ssh2';
import type { OpenTerminal } from '../../app/terminals/opening/open-terminal.ts';
import type { SshShell } from '../../app/terminals/ssh/ssh-programs.ts';
import { CLOSE, type CloseReason } from '../../domain/terminals/terminal.ts';
import { withoutQuestions } from '../../domain/terminals/terminal-resume.ts';
import type { ChannelOutput } from './channel-output.ts';
import { EXIT, refusalWords, type SignedInClient } from './client.ts';

const PIECE_BYTES = 65_536;
/** As often as a browser's pings. */
const SEEN_EVERY_MS = 15_000;
const BY_ADMINISTRATOR = 'an administrator closed this terminal';
const SAID_WITHIN_MS = 500;
const FALLBACK = 'tmux could not start in this container: this is a plain shell';

/** A line in a terminal whose program may have moved the cursor. */
const line = (text: string): string => `\r\n${text}\r\n`;

/** Shows a session of the container on a channel until either ends. `opened` gets its resize. */
export async function showShell(
  output: ChannelOutput,
  client: SignedInClient,
  shell: SshShell,
  opened: (resize: OpenTerminal['resize']) => void,
): Promise<void> {
  const { connection, programs } = client;
  const { channel } = output;
  const gone = new AbortController();
  output.atEnd(() => gone.abort());
  let closed: CloseReason | null = null;
  const close = (reason: CloseReason): void => {
    closed = reason;
    if (reason === CLOSE.unauthorized) void closeSoon(channel, output);
    else void fail(output, reason);
  };
  const show = (message: string): void => void output.write('stderr', line(message));
  const notify = ({ message }: { readonly message: string }): void => show(message);
  const found = await programs.openShell(connection, shell, { close, notify, show }, gone.signal);
  if (!found.ok) return await fail(output, refusalWords(found.error, connection.container?.name ?? ''));
  if (found.value.kind === 'left') return;
  if (found.value.kind === 'failed') return await fail(output, found.value.reason);
  const { terminal } = found.value;
  const release = (): void => void terminal.release('deliberate');
  if (output.isClosed || closed !== null) return release();
  output.atEnd(release);
  opened(terminal.resize);
  terminal.shown();
  keepSeen(output, terminal);
  takeInput(channel, client, terminal);
  const recording = terminal.recording();
  if (recording !== null) notify(recording);
  if (terminal.stream.isFallback) show(FALLBACK);
  await sendOutput(output, terminal, () => closed !== null);
  if (closed !== null || output.isClosed) return;
  const { reason, code } = await terminal.ended();
  if (reason === CLOSE.ended) await output.exit(code ?? 0);
  else await fail(output, reason);
}

/** Says why to a client that reads, and closes in any case. The end of a sign-in closes the connection instead. */
async function closeSoon(channel: ServerChannel, output: ChannelOutput): Promise<void> {
  await Promise.race([fail(output, BY_ADMINISTRATOR), delay(SAID_WITHIN_MS)]);
  channel.close();
}

async function fail(output: ChannelOutput, reason: string): Promise<void> {
  await output.write('stderr', line(reason));
  await output.exit(EXIT.failed);
}

function keepSeen(output: ChannelOutput, { pinged }: OpenTerminal): void {
  const timer = setInterval(pinged, SEEN_EVERY_MS).unref();
  output.atEnd(() => clearInterval(timer));
}

function takeInput(channel: ServerChannel, client: SignedInClient, { stream }: OpenTerminal): void {
  channel.on('data', (chunk: Buffer) => {
    client.carrier.count(chunk.length);
    const taken = client.connection.use(() => {
      if (stream.write(chunk, () => {})) return;
      channel.pause();
      stream.onDrain(() => channel.resume());
    }, chunk.length);
    if (!taken) client.close(CLOSE.tooSlow);
  });
}

/** Resolves after the last output of an ended program, or when the channel or terminal is closed. */
async function sendOutput(
  output: ChannelOutput,
  { stream, startPoint }: OpenTerminal,
  isClosed: () => boolean,
): Promise<void> {
  let wake = (): void => {};
  output.atEnd(() => wake());
  const { offset, snapshot, redraw } = startPoint;
  let sent = offset + (snapshot?.length ?? 0);
  stream.show({ more: () => wake() }, sent);
  if (snapshot !== null) await output.write('stdout', snapshot);
  else if (redraw) {
    const { end } = stream.bufferedRange();
    await output.write('stdout', withoutQuestions(stream.range(offset, end)));
    sent = end;
  }
  while (!output.isClosed && !isClosed()) {
    const more = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const piece = stream.read(sent, PIECE_BYTES);
    if (piece.length > 0) {
      sent += piece.length;
      await output.write('stdout', piece);
      stream.confirm(sent);
    } else if (stream.over()) return;
    else await more;
  }
}
