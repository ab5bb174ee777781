import { PassThrough } from 'node:stream';
import t from 'tap';
import { fetchWithNote } from '../../src/cli/connect.ts';
import type { Io } from '../../src/cli/io/io.ts';
import { pipedSecret } from '../../src/cli/io/prompts.ts';
import { waitFor } from '../support/patience.ts';
import { theCommand } from '../support/service/command.ts';

/** No service answers there: a command that asks it ends with another code. */
const NOWHERE = 'http://127.0.0.1:9';

t.test('an option that would change nothing is refused before anything is done', async (t) => {
  const { run } = theCommand(t, NOWHERE, 'x');
  for (const [line, words] of [
    ['profiles ls --server https://one.example.org', /^berth: berth profiles ls does not take --server\./],
    ['--profile one profiles use two', /does not take --profile\.\nGive its name alone/],
    ['ssh --stdio dev -- ls', /--stdio or a program/],
    ['attach dev web --stdin --no-follow', /'-i, --stdin' cannot be used with option '--no-follow'/],
    ['shell dev --new --watch', /'--new' cannot be used with option '--watch'/],
    ['exec --tty --no-stdin dev -- sh', /--tty or --no-stdin/],
    ['exec --tty -o json dev -- sh', /--tty or --output/],
    ['admin health --limit many', /number from 1 to 999999999/],
  ] as const)
    t.match(await run(line.split(' ')), { code: 2, stdout: '', stderr: words }, line);
});

t.test('with JSON, a wrong command line is an object on stderr too', async (t) => {
  const { run } = theCommand(t, NOWHERE, 'x');
  for (const [line, error, next] of [
    ['ls --colour -o json', "unknown option '--colour'.", /--help/],
    ['-o json cp', "missing required argument 'source'.", /--help/],
    ['ls --sort colour -o json', /^option '--sort/, /--help/],
    ['-ojson tokens', 'The command is not complete.', /--help/],
    ['-o json lss', "unknown command 'lss'.", 'Did you mean ls?'],
    ['ls --output=json too many', /^too many arguments/, /--help/],
  ] as const) {
    const { code, stdout, stderr } = await run(line.split(' '));
    t.match([code, stdout, JSON.parse(stderr)], [2, '', { error, code: 'usage', next }], line);
    t.equal(stderr.trim().split('\n').length, 1, line);
  }
});

t.test('what follows the program, or two dashes, is no option of berth', async (t) => {
  const { run } = theCommand(t, null);
  for (const line of ['exec dev -- ls -o json', 'exec dev ls -o json', 'stats --no-such -- -o json'])
    t.match((await run(line.split(' '))).stderr, /^(berth|error): /m, line);
  t.match((await run('exec -o json dev ls'.split(' '))).stderr, /^{"error"/);
});

t.test('login says at once that it reads no token from its arguments', async (t) => {
  const token = `svc_${'1'.repeat(64)}`;
  const { run } = theCommand(t, NOWHERE);
  for (const line of [`login --token ${token}`, `--token ${token} login --with-token`]) {
    const { code, stderr } = await run(line.split(' '));
    t.match([code, stderr], [2, /login does not take --token\.\nGive .* --with-token < /], line);
    t.notMatch(stderr, token);
  }
  const empty = await run(['login', '--with-token'], '\n');
  t.match(empty, { code: 2, stderr: /No token was given\.\n.* --with-token < / });
});

t.test(
  'completion ignores options that an alias of berth may add, and --on-idle needs no --idle',
  async (t) => {
    const { run } = theCommand(t, NOWHERE, 'x');
    const args = ['--server', NOWHERE, 'completion', 'bash', '--token', 'x'];
    t.match(await run(args), { code: 0, stdout: /complete/, stderr: '' });
    const created = await run(['create', 'dev', '--on-idle', 'stop', '-o', 'json']);
    t.match(created, { code: 1, stderr: /did not respond/ }, 'a tier may limit the idle time');
  },
);

t.test(
  'a command says that it waits for requests which fail again, not for aborted or other ones',
  async (t) => {
    const lines: string[] = [];
    const err = { write: (line: string) => lines.push(line) };
    const send = fetchWithNote(NOWHERE, { io: { err } as unknown as Io, options: { output: 'table' } });
    const file = (name: string) => `${NOWHERE}/files/${name}`;
    const signal = AbortSignal.abort();
    for (const name of ['a', 'a']) await t.rejects(send(file(name), { method: 'PUT', signal }));
    for (const name of ['b', 'c']) await t.rejects(send(file(name), { method: 'PUT' }));
    t.same(lines, [], 'each failed once');
    for (const _ of [1, 2]) await t.rejects(send(file('b'), { method: 'PUT' }));
    t.same(lines, [`No answer from ${NOWHERE} yet. Waiting…\n`]);
  },
);

t.test('no secret is asked for before a service is known', async (t) => {
  t.match(await theCommand(t, null).run(['unlock'], '1234'), { code: 4, stderr: /No server is known/ });
});

t.test(
  'after a second without piped input, the command says what it waits for; with JSON it does not',
  async (t) => {
    const [input, err] = [new PassThrough(), new PassThrough()];
    const io = { in: input, err } as unknown as Io;
    const secret = pipedSecret({ io, options: { output: 'table' } }, 'passcode', 100);
    const [silent, ofProgram] = [new PassThrough(), new PassThrough()];
    const toProgram = { in: ofProgram, err: silent } as unknown as Io;
    const another = pipedSecret({ io: toProgram, options: { output: 'json' } }, 'passcode', 100);
    await waitFor(() => /^Waiting for the passcode on standard input…\n$/.test(`${err.read() ?? ''}`));
    input.end('1234\n');
    t.equal(await secret, '1234');
    ofProgram.end('5678\n');
    t.same([await another, silent.read()], ['5678', null], 'none with JSON');
  },
);
