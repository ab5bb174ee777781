import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { aFolder } from '../folder.ts';

export const BERTH = path.resolve('web/dist/cli/berth.mjs');

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** The built command in a folder and with a home of its own, as on another machine. */
export function theCommand(t: Test, server: string | null, token?: string) {
  const home = aFolder(t);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, 'config'),
    ...(server !== null && { BERTH_SERVER: server }),
    ...(token !== undefined && { BERTH_TOKEN: token }),
  };
  const run = async (args: readonly string[], input = ''): Promise<Ran> => {
    const child = spawn(process.execPath, [BERTH, ...args], { cwd: home, env });
    child.stdin.end(input);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, stdout, stderr };
  };
  return { home, env, run };
}
