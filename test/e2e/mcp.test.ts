import t, { type Test } from 'tap';
import { aFolder } from '../support/folder.ts';
import { small } from '../support/process/fault-scene.ts';
import { client, register, sharedService } from '../support/process/running-service.ts';
import { BUILT } from '../support/service/command.ts';
import { type McpClient, mcpOverHttp, mcpOverStdio } from '../support/service/mcp-client.ts';

/** What an assistant does in a container of a real engine, by its tools alone. */
async function worksIn(t: Test, { call }: McpClient, container: string): Promise<void> {
  const text = async (name: string, args: object) => (await call(name, { container, ...args })).text;
  await call('write_file', {
    container,
    path: 'src/answer.sh',
    content: 'echo "answer $((6 * 7))"\n# the end\n',
  });
  t.equal(
    await text('run_command', { command: 'sh src/answer.sh; echo wrong >&2; exit 3' }),
    ['answer 42\n', '[stderr]\nwrong\n', '[exit code 3]'].join('\n'),
  );
  t.match(
    await text('run_command', { command: 'seq 1 20000' }),
    /^1\n2\n[\s\S]*bytes left out[\s\S]*\n20000\n\n\[exit code 0\]$/,
  );
  t.equal(
    await text('run_command', { command: 'sleep 60', timeout_seconds: 1 }),
    '[ended by the time limit]',
  );
  t.equal(await text('run_command', { command: 'cat', stdin: 'from afar' }), 'from afar\n[exit code 0]');
  t.match(
    await text('search_files', { pattern: 'answer \\$', include: '*.sh' }),
    /^\/workspace\/src\/answer\.sh:1:echo/,
  );
  t.equal(await text('search_files', { pattern: 'nothing like this' }), 'no matches');
  t.match(await text('search_files', { pattern: '(' }), /pattern/);
  t.equal(await text('read_file', { path: 'src/answer.sh', offset: 25 }), '# the end\n');
  t.match(await text('list_files', { path: 'src' }), /answer\.sh$/);
  const listen =
    'perl -MIO::Socket::INET -e "IO::Socket::INET->new(Listen => 1, LocalPort => 4321) and sleep 99"';
  await text('run_command', {
    command: `nohup ${listen} >/dev/null 2>&1 & until grep -q :10E1 /proc/net/tcp; do :; done`,
  });
  t.match(JSON.parse(await text('list_ports', {})), [{ port: 4321, address: 'all addresses' }]);
}

t.test('an assistant works in real containers over HTTP and over stdio', async (t) => {
  const service = await sharedService(t);
  if (service === null) return;
  const call = client(service.address, (await register(service)).token);
  const made = await call('POST', '/api/tokens', { name: 'assistant' });
  const { token } = made.body as { token: string };
  const connected = await mcpOverHttp(service.address, token, '?allow_delete=true');
  t.teardown(() => connected.client.close());
  t.match(await connected.call('create_container', { name: 'dev', ...small }), { isError: false });
  await worksIn(t, connected, 'dev');
  const env = { BERTH_SERVER: service.address, BERTH_TOKEN: token, HOME: aFolder(t) };
  const local = await mcpOverStdio(env, ['--container', 'dev'], BUILT);
  t.teardown(() => local.client.close());
  await local.call('run_command', { command: 'pkill perl; rm -r src' });
  await worksIn(t, local, 'dev');
  t.match(await connected.call('delete_container', { container: 'dev' }), { text: 'dev is deleted' });
});
