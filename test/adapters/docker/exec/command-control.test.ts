import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { dockerPrograms } from '../../../../src/adapters/docker/exec/container-programs.ts';
import { shellCommands } from '../../../../src/adapters/scripts/exec/container-commands.ts';
import { dockerOf, frame } from '../../../support/engine/printing-engine.ts';
import { aFolder } from '../../../support/folder.ts';
import { waitFor } from '../../../support/patience.ts';

type Exec = { readonly Cmd: readonly string[]; readonly Env: readonly string[] };

/** Runs the program of an exec on this machine. */
function runHere({ Cmd: [file = '', ...args], Env }: Exec, folder: string) {
  const env = { ...Object.fromEntries(Env.map((each) => each.split('=', 2))) };
  return spawn(file, args, { env: { ...env, PATH: `${folder}:${process.env['PATH']}` }, cwd: folder });
}

/** A running command in a terminal, at an engine that answers sizes and ends signals only when it is asked to. */
async function aCommand(t: Test) {
  const sizes: { readonly url: string; readonly response: ServerResponse }[] = [];
  const programs: Socket[] = [];
  const execs: Exec[] = [];
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/exec')) void json(request).then((exec) => execs.push(exec as Exec));
    else request.resume();
    response.setHeader('content-type', 'application/json');
    const path = request.url ?? '';
    if (path.includes('/resize')) sizes.push({ url: path, response });
    else if (path.endsWith('/_ping')) response.end('OK');
    else if (path.endsWith('/json')) response.end('{"Running":true,"ExitCode":null}');
    else response.writeHead(201).end('{"Id":"one"}');
  });
  server.on('upgrade', (_request, socket: Socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    programs.push(socket);
  });
  const calls = engineCalls(await dockerOf(t, server));
  t.teardown(() => {
    for (const socket of programs) socket.destroy();
  });
  const handle = { node: 'test', runtimeId: 'a'.repeat(64) };
  const command = await shellCommands(dockerPrograms(calls), async () => handle.runtimeId).open(handle, {
    command: ['sh'],
    terminal: { term: 'xterm', cols: 80, rows: 24 },
    timeoutSeconds: null,
  });
  return { command, sizes, programs, execs };
}

t.test('many sizes at once cost the engine two calls: the first and the last', async (t) => {
  const { command, sizes } = await aCommand(t);
  const all = Array.from({ length: 200 }, (_, at) => command.resize(at + 1, 40));
  await waitFor(() => sizes.length > 0);
  sizes[0]?.response.end();
  await waitFor(() => sizes.length > 1);
  sizes[1]?.response.end();
  await Promise.all(all);
  t.match(
    sizes.map(({ url }) => url),
    [/w=1&|w=1$/, /w=200/],
  );
});

t.test('many signals at once are sent one after the other, and a waiting one only once', async (t) => {
  const { command, programs } = await aCommand(t);
  const all = Array.from({ length: 200 }, (_, at) => command.signal(at % 2 === 0 ? 'INT' : 'TERM'));
  for (const count of [2, 3]) {
    await waitFor(() => programs.length === count);
    programs.at(-1)?.end();
  }
  await Promise.all(all);
  t.equal(programs.length, 3, 'the command, INT and TERM');
});

t.test('a signal that finds no program yet is sent again', async (t) => {
  const { command, programs } = await aCommand(t);
  const sent = command.signal('TERM');
  await waitFor(() => programs.length === 2);
  programs.at(-1)?.end(frame(1, 'none\n'));
  await waitFor(() => programs.length === 3);
  programs.at(-1)?.end();
  await sent;
  t.equal(programs.length, 3);
});

t.test('ending a command early kills its program once it begins', async (t) => {
  const { command, programs } = await aCommand(t);
  const ended = command.end();
  await waitFor(() => programs.length === 2);
  programs.at(-1)?.end(frame(1, 'none\n'));
  await ended;
  await waitFor(() => programs.length === 3);
});

t.test('a signal waits for the program of a terminal, and spares the shell that prepares it', async (t) => {
  const { command, programs, execs } = await aCommand(t);
  const sent = command.signal('USR1');
  await waitFor(() => programs.length === 2);
  programs.at(-1)?.end();
  await sent;
  const [opened, signalled] = execs as [Exec, Exec];
  const folder = aFolder(t);
  const slow = '#!/bin/sh\n: > waits\nwhile [ ! -e go ]; do sleep 0.02; done\n';
  writeFileSync(path.join(folder, 'stty'), slow, { mode: 0o755 });
  const program = runHere(opened, folder);
  t.teardown(() => program.kill('SIGKILL'));
  const ended = once(program, 'exit');
  const signal = async (): Promise<string> => await text(runHere(signalled, folder).stdout);
  await waitFor(() => existsSync(path.join(folder, 'waits')));
  t.equal(await signal(), 'none\n');
  writeFileSync(path.join(folder, 'go'), '');
  await waitFor(async () => (await signal()) === '');
  t.same(await ended, [null, 'SIGUSR1']);
});
