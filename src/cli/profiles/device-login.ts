import { spawn } from 'node:child_process';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { BerthError } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../cli-error.ts';
import { fetchWithNote } from '../connect.ts';
import { isTerminal } from '../io/io.ts';
import { anonymous, pollDeviceSignIn, type SignedIn, startDeviceSignIn } from './auth-calls.ts';

/** Signs in by a code, which a user who is signed in to the page confirms. */
export async function signInByCode(cli: Cli, server: string): Promise<SignedIn> {
  const berth = anonymous(server, { fetch: fetchWithNote(server, cli) });
  const started = await cli.progress(`Asking ${server}`, startDeviceSignIn(berth, machine()));
  const until = Date.parse(started.expires_at);
  const left = () => Math.max(0, Math.ceil((until - Date.now()) / 60_000));
  cli.notify(`Open  ${started.verification_url}\nCode  ${started.user_code}`);
  cli.notify(`Sign in there and confirm the code, within ${left()} min.`);
  if (opensBrowser(cli)) open(started.verification_url_complete);
  const waiting = polled(() => pollDeviceSignIn(berth, started.device_code), started.interval_seconds * 1000);
  return await cli.progress(() => `Waiting for the code to be confirmed, ${left()} min left`, waiting);
}

async function polled(poll: () => Promise<SignedIn | null>, intervalMs: number): Promise<SignedIn> {
  for (;;) {
    await delay(intervalMs);
    const signedIn = await poll().catch(refused);
    if (signedIn !== null) return signedIn;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was refused in the browser.',
  expired_token: 'The code has expired.',
};

/** A connection that is lost for a while does not end the wait; the code's expiry does. */
function refused(error: unknown): null {
  if (!(error instanceof BerthError)) throw error;
  if (error.status === 0 || error.status === 503 || error.status === 429) return null;
  const words = WORDS[error.code];
  if (words === undefined) throw error;
  throw new CliError(words, { code: error.code, next: 'Start again: berth login' });
}

/** The name that the page shows where the code is confirmed. */
const machine = (): string => `${os.userInfo().username}@${os.hostname()}`.slice(0, 64);

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

const opensBrowser = ({ io }: Cli): boolean =>
  isTerminal(io.err) &&
  (process.platform !== 'linux' || Boolean(io.env['DISPLAY'] || io.env['WAYLAND_DISPLAY'])) &&
  !io.env['SSH_CONNECTION'];

/** Where there is none, the address above is enough. The service named the address, so only the web is opened. */
function open(address: string): void {
  const opener = OPENERS[process.platform];
  if (opener === undefined || !/^https?:\/\//.test(address)) return;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}
