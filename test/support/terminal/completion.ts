import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { needs } from '../run/infra.ts';
import { BUILT, theCommandOfAda } from '../service/command.ts';
import { as } from '../service/service.ts';
import { onTerminal } from './on-terminal.ts';

const SHELLS = {
  bash: { args: ['--norc', '--noprofile', '-i'], setUp: 'true' },
  // Its usual TAB also expands, which runs commands by design.
  fish: { args: ['-i'], setUp: 'true' },
  zsh: { args: ['-f', '-i'], setUp: "autoload -U compinit; compinit -u; bindkey '^I' complete-word" },
} as const;

/** A shell in which somebody has typed the start of a line that sources the completion. */
async function aShell(t: Test, program: keyof typeof SHELLS) {
  const { args, setUp } = SHELLS[program];
  const { service, ada, home, env } = await theCommandOfAda(t);
  const call = as(service, ada);
  for (const name of ['webserver', 'database']) await call('POST', '/api/containers', { name });
  const [{ db_id }] = (await call('GET', '/api/containers?name=database')).json().containers;
  const bytes = { 'content-type': 'application/octet-stream' };
  for (const file of ['notes.txt', 'folder/one'])
    await call('PUT', `/api/containers/${db_id}/files?path=${file}`, Buffer.from('x'), bytes);
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(home, 'here.txt'), '');
  writeFileSync(path.join(bin, 'berth'), `#!/bin/sh\nexec ${process.execPath} ${BUILT} "$@"\n`);
  chmodSync(path.join(bin, 'berth'), 0o755);
  const variables = { ...env, PATH: `${bin}:${env.PATH}`, TERM: 'xterm', PS1: '$ ' };
  const options = { cwd: home, env: variables, cols: 120, rows: 40 };
  const { user, shows, shown, clear } = onTerminal(t, program, args, options);
  const type = (text: string) => user.write(text);
  const source =
    program === 'fish' ? 'berth completion fish | source' : `source <(berth completion ${program})`;
  type(`${setUp}; ${source}; ${source}; echo read''y\r`);
  await shows(/ready/);
  t.notMatch(shown(), /readonly|error/i, 'it can be read twice');
  // The line editor switches bracketed paste on, and off when the line is entered.
  const atPrompt = async () => {
    await shows(/\[\?2004h(?![\s\S]*\[\?2004l)/);
    clear();
  };
  return { type, shows, atPrompt, home, shown };
}

/** TAB completes commands, options, and names of containers and files, in a shell of the distribution. */
export async function completes(t: Test, program: keyof typeof SHELLS): Promise<void> {
  if ((await needs(t, 'shells')) === null) return;
  const { type, shows, atPrompt } = await aShell(t, program);
  // A TAB that arrives before the line is edited, or with more input behind it, is only a character.
  const line = async (...typed: readonly (readonly [string, RegExp])[]) => {
    await atPrompt();
    for (const [text, answer] of typed) {
      type(text);
      await shows(answer);
    }
  };
  await line(['berth sto\t', /berth stop/], ['web\t', /webserver/], ['\r', /webserver is stopped/]);
  await line(['berth create box --mem\t', /--memory/], ['512m --cp\t', /--cpu/], ['0.1\r', /box is running/]);
  await line(
    ['berth cp database:no\t', /database:notes\.txt/],
    [' he\t', /here\.txt/],
    ['\r', /Copied 1 file/],
  );
  await line(
    ['berth cp data\t', /database:/],
    ['fo\t', /database:folder\//],
    ["\u0015echo pa''st\r", /past/],
  );
  await line(['berth ls --output=na\t', /--output=name/], ['\r', /database/]);
}

/** TAB runs nothing of the line. */
export async function runsNothing(t: Test, program: keyof typeof SHELLS): Promise<void> {
  if ((await needs(t, 'shells')) === null) return;
  const { type, shows, atPrompt, home, shown } = await aShell(t, program);
  await atPrompt();
  type("\u0015berth stop --a$(touch owned)=\t\u0015echo do''ne\r");
  await shows(/done/);
  t.throws(() => chmodSync(path.join(home, 'owned'), 0o600), { code: 'ENOENT' }, shown());
}
