import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import t, { type Test } from 'tap';
import { waitFor } from '../support/patience.ts';
import { aQuickInstallation, client, signInAdmin, startService } from '../support/process/running-service.ts';
import { needs } from '../support/run/infra.ts';
import { BUILT, theCommand } from '../support/service/command.ts';
import { anApiToken, aPerson, aService, as } from '../support/service/service.ts';

t.test('the built command takes a container through its life on a real service', async (t) => {
  const installation = await aQuickInstallation(t);
  if (installation === null) return;
  const { address, ...running } = await startService(t, installation);
  const admin = client(address, await signInAdmin({ address, ...running }));
  const { token } = (await admin('POST', '/api/tokens', { name: 'cli' })).body as { token: string };
  const { run } = theCommand(t, address, token, BUILT);
  const sizes = ['--memory', '256m', '--cpu', '0.1', '--disk', '512m'];
  t.match(await run(['create', 'dev', ...sizes, '-e', 'A=1']), { code: 0, stderr: /dev is running/ });
  const [listed] = JSON.parse((await run(['ls', '-o', 'json'])).stdout);
  t.match(listed, { name: 'dev', status: 'running', resources: { memory_mb: 256, cpu_shares: 100 } });
  t.match(await run(['stats', 'dev']), { code: 0, stdout: /memory +\S+ \S+ of 256 MB/ });
  for (const [args, words] of [
    [['stop', 'dev'], 'dev is stopped.'],
    [['start', 'dev'], 'dev is running.'],
    [['rm', 'dev', '--yes'], 'dev is deleted. Undo: berth restore dev'],
    [['restore', 'dev', '--start'], 'dev is running.'],
    [['rm', 'dev', '--yes'], 'dev is deleted. Undo: berth restore dev'],
    [['rm', '--purge', 'dev', '--yes'], 'dev is being erased.'],
  ] as const) {
    t.match(await run(args), { code: 0, stderr: `${words}\n` }, args.join(' '));
  }
  const doctor = await run(['doctor', '-o', 'json']);
  const results = JSON.parse(doctor.stdout) as { check: string; result: string }[];
  t.match(
    results.filter(({ result }) => result === 'failed'),
    [],
    doctor.stdout,
  );
  t.ok(results.some(({ check, result }) => check === 'websockets' && result === 'ok'));
  t.notMatch(doctor.stdout + doctor.stderr, token);
});

/** A shell in which somebody has typed the start of a line that sources the completion. */
async function aShell(t: Test, program: string, args: readonly string[], setUp: string) {
  const service = await aService();
  t.teardown(() => service.http.close());
  const address = await service.http.listen({ port: 0, host: '127.0.0.1' });
  const ada = await aPerson(service, 'ada');
  const ids = new Map<string, string>();
  for (const name of ['webserver', 'database'])
    ids.set(name, (await as(service, ada)('POST', '/api/containers', { name })).json().db_id);
  for (const [name, file] of [
    ['database', 'notes.txt'],
    ['database', 'folder/one'],
  ])
    await service.http.inject({
      ...{
        method: 'PUT',
        url: `/api/containers/${ids.get(name ?? '')}/files?path=${file}`,
        payload: Buffer.from('x'),
      },
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/octet-stream' },
    });
  const { token } = await anApiToken(service, ada);
  const { home, env } = theCommand(t, address, token);
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(home, 'here.txt'), '');
  writeFileSync(path.join(bin, 'berth'), `#!/bin/sh\nexec ${process.execPath} ${BUILT} "$@"\n`);
  chmodSync(path.join(bin, 'berth'), 0o755);
  const variables = { ...env, PATH: `${bin}:${env.PATH}`, TERM: 'xterm', PS1: '$ ' };
  const shell = spawn(program, [...args], { cwd: home, env: variables, cols: 120, rows: 40 });
  let output = '';
  shell.onData((text) => {
    output += text;
  });
  const ended = new Promise((resolve) => shell.onExit(resolve));
  t.teardown(async () => {
    shell.kill('SIGKILL');
    await ended;
  });
  const type = (text: string) => shell.write(text);
  // fish colours each word.
  const isShown = (text: RegExp) => text.test(output) || text.test(stripVTControlCharacters(output));
  const until = (shown: RegExp) => waitFor(() => isShown(shown), { what: () => `${shown} in ${output}` });
  const source =
    program === 'fish' ? 'berth completion fish | source' : `source <(berth completion ${program})`;
  type(`${setUp}; ${source}; ${source}; echo read''y\r`);
  await until(/ready/);
  t.notMatch(output, /readonly|error/i, 'it can be read twice');
  // The line editor switches bracketed paste on, and off when the line is entered.
  const atPrompt = async () => {
    await until(/\[\?2004h(?![\s\S]*\[\?2004l)/);
    output = '';
  };
  return { type, until, atPrompt, home, output: () => output };
}

for (const [program, args, setUp] of [
  ['bash', ['--norc', '--noprofile', '-i'], 'true'],
  // Its usual TAB also expands, which runs commands by design.
  ['fish', ['-i'], 'true'],
  ['zsh', ['-f', '-i'], "autoload -U compinit; compinit -u; bindkey '^I' complete-word"],
] as const) {
  t.test(`TAB completes commands, options and live container names in ${program}`, async (t) => {
    if ((await needs(t, 'shells')) === null) return;
    const { type, until, atPrompt, home, output } = await aShell(t, program, args, setUp);
    // A TAB that arrives before the line is edited, or with more input behind it, is only a character.
    const line = async (...typed: readonly (readonly [string, RegExp])[]) => {
      await atPrompt();
      for (const [text, shown] of typed) {
        type(text);
        await until(shown);
      }
    };
    await line(['berth sto\t', /berth stop/], ['web\t', /webserver/], ['\r', /webserver is stopped/]);
    await line(
      ['berth create box --mem\t', /--memory/],
      ['512m --cp\t', /--cpu/],
      ['0.1\r', /box is running/],
    );
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
    await atPrompt();
    type("\u0015berth stop --a$(touch owned)=\t\u0015echo do''ne\r");
    await until(/done/);
    t.throws(() => chmodSync(path.join(home, 'owned'), 0o600), { code: 'ENOENT' }, output());
  });
}
