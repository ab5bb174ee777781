import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { dockerRuntime } from '../../../../src/adapters/docker/containers/container-runtime.ts';
import { runtimeSettings } from '../../../../src/adapters/docker/containers/runtime-settings.ts';
import { removeStale } from '../../../../src/adapters/docker/containers/stale-containers.ts';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { runOneShot } from '../../../../src/adapters/docker/engine/one-shot-container.ts';
import { isRoot } from '../../../../src/adapters/docker/host/host-commands.ts';
import { ensureTools, removeOtherTools } from '../../../../src/adapters/docker/volumes/tools-volume.ts';
import { containerHelpers } from '../../../../src/adapters/scripts/exec/container-helpers.ts';
import type { ContainerSpec } from '../../../../src/ports/containers/container-runtime.ts';
import {
  aBox,
  type Box,
  links,
  pathsContract,
  special,
  uploads,
} from '../../../contract/containers/inside/files.ts';
import { aTerminal, reader } from '../../../contract/terminals/terminal-backend.ts';
import { firstLines, type TypedInto, terminalInput } from '../../../contract/terminals/terminal-input.ts';
import { aSpec, shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { needs } from '../../../support/run/infra.ts';

const PLAIN = { BERTH_TMUX: 'off' };
/** A tmux that does not reach a server of the other one. */
const INSTALL_OTHER_TMUX = `printf '#!/bin/sh\\n[ "$1" = -V ] && echo tmux 3.6\\n' > /bin/tmux; chmod +x /bin/tmux`;

const SFTP_INIT = 1;
const SFTP_VERSION = 2;

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await t.test('the tmux volume is made once, and older ones are removed', (t) => made(t, instance));
  await t.test('leftovers of a killed volume preparation are removed', (t) => leftover(t, instance));
  const tools = await ensureTools(instance.docker, instance);
  const box = (image: string, shell: string, env = {}) =>
    aBoxWithTools(instance, tools, aSpec(image, { env }), shell);
  const busybox = await needs(t, 'busybox');
  if (busybox !== null) {
    const bare = await box(busybox.bare, '/bin/sh');
    await t.test('an image with only BusyBox gets a tmux session', (t) =>
      insideBusyBox(t, instance, tools, bare),
    );
    await t.test('an image with only BusyBox gets forwards and SFTP', (t) => helpers(t, instance, bare));
    await terminalInput(t, 'BusyBox, tmux of the installation', bare);
    await firstLines(t, 'BusyBox, a plain shell', await box(busybox.bare, '/bin/sh', PLAIN));
    await onlyBusyBox({ ...instance, image: busybox.inPlaceOfTools });
  }
  const other = await box(instance.image, '/bin/bash');
  await other.sh('tmux -u -S /run/berth-tmux -f /dev/null new-session -d -s earlier');
  await terminalInput(t, 'Debian, a tmux server with other settings', other);
  await terminalInput(t, 'Debian, a plain shell', await box(instance.image, '/bin/bash', PLAIN));
}

/** A running container with this volume's tools. */
async function aBoxWithTools(
  { docker, instanceId, network, terminals, commands }: TestInstance,
  tools: string,
  spec: ContainerSpec,
  shell: string,
): Promise<TypedInto> {
  const settings = await runtimeSettings(docker, { instanceId, network: network.name, node: 'test' });
  const runtime = dockerRuntime(docker, { ...settings, tools: () => tools });
  const handle = await runtime.create(spec);
  await runtime.start(handle);
  return { terminals, handle, shell, sh: shellIn(commands, handle) };
}

async function made(t: Test, { docker, image, instanceId, isLocal }: TestInstance): Promise<void> {
  const Labels = { 'berth.instance': instanceId, 'berth.tools': 'tmux' };
  await docker.createVolume({ Name: `old-tools-${instanceId}`, Labels });
  const names = await Promise.all([1, 2].map(() => ensureTools(docker, { instanceId, image })));
  t.equal(names[0], names[1]);
  await removeOtherTools(docker, instanceId, names[0] ?? '');
  const { Volumes } = await docker.listVolumes({ filters: { label: [`berth.instance=${instanceId}`] } });
  t.same(
    Volumes.map(({ Name }) => Name),
    [names[0]],
  );
  if (!isLocal || !isRoot()) return;
  const now = (): number => Date.now() / 1000;
  const since = now();
  await ensureTools(docker, { instanceId, image });
  const filters = { event: ['create'], label: [`berth.passing=${instanceId}`] };
  const events = await docker.getEvents({ since, until: now(), filters: JSON.stringify(filters) });
  t.equal(await text(events), '', 'tools that are there need no container');
}

async function leftover(t: Test, { docker, image, instanceId }: TestInstance): Promise<void> {
  const calls = engineCalls(docker);
  const left = await docker.createContainer({ Image: image, Labels: { 'berth.passing': instanceId } });
  const exists = (): Promise<boolean> =>
    left.inspect().then(
      () => true,
      () => false,
    );
  await removeStale(calls, 'berth.passing', 'another installation', -60);
  await removeStale(calls, 'berth.passing', instanceId, 60);
  t.ok(await exists(), 'one that another process may still use is left alone');
  await removeStale(calls, 'berth.passing', instanceId, -60);
  t.notOk(await exists());
  await runOneShot(
    calls,
    {
      instanceId,
      image,
      entrypoint: ['true'],
      mount: { volume: `passing-${instanceId}`, at: '/mnt', isReadOnly: true },
    },
    async (container) => {
      const { Config } = await container.inspect();
      t.match(Config.Labels, { 'berth.passing': instanceId });
    },
  );
  await docker.getVolume(`passing-${instanceId}`).remove();
}

async function helpers(t: Test, { commands }: TestInstance, { handle, sh }: TypedInto): Promise<void> {
  const { connect, listen, serveSftp } = containerHelpers(commands);
  const listener = await listen(handle, { kind: 'private' });
  if (listener === null) throw new Error('nothing listens');
  const echoing = (async () => {
    for await (const arrival of listener.arrivals) {
      const echo = new PassThrough();
      const opened = await arrival.connect(echo);
      for await (const data of opened?.output ?? []) echo.write(data);
      echo.end();
    }
  })();
  const stdin = new PassThrough();
  const opened = await connect(handle, listener.address, stdin);
  stdin.end('and back');
  t.equal(await text(Readable.from(opened?.output ?? [])), 'and back');
  await listener.end();
  await echoing;
  t.equal(await connect(handle, listener.address, new PassThrough()), null);

  await sh('mkdir -p /etc; echo root:x:0:0::/:/bin/sh > /etc/passwd');
  const request = new PassThrough();
  const server = await serveSftp(handle, request);
  request.write(Buffer.from([0, 0, 0, 5, SFTP_INIT, 0, 0, 0, 3]));
  const answer: Buffer[] = [];
  for await (const event of server.events) {
    if (event.kind === 'output') answer.push(event.data);
    // Only now: it may leave a request unanswered when its input has ended.
    request.end();
  }
  t.equal(Buffer.concat(answer)[4], SFTP_VERSION);
}

async function insideBusyBox(
  t: Test,
  { docker }: TestInstance,
  tools: string,
  box: TypedInto,
): Promise<void> {
  const { terminals, handle } = box;
  const { Mounts } = await docker.getContainer(handle.runtimeId).inspect();
  const mount = Mounts.find(({ Destination }) => Destination === '/opt/berth');
  t.match(mount, { Type: 'volume', Name: tools, RW: false }, 'read-only, and nothing of the host');

  const pty = await terminals.open(handle, aTerminal('bare', { shell: '/bin/sh' }));
  t.equal(pty.muxSession, 'bare');
  const output = reader(pty);
  await output.until('# ');
  pty.write('echo "<$TERM|$LOCPATH|$TMUX>"; seq 300; touch /opt/berth/x; printf "%s|" ä漢😀\r');
  const shown = await output.until('ä漢😀|');
  t.match(shown, /touch: .*Read-only file system/);
  const past = await pty.requestScrollback();
  const text = past.program === 'shell' ? past.snapshot?.text : past.program;
  t.match(text, /\n<tmux-256color\|\|>\n1\n2\n/, 'and what programs see of it is their own');
  await box.sh(INSTALL_OTHER_TMUX);
  t.match(await pty.requestScrollback(), { program: 'shell', snapshot: { text: /tmux-256color/ } });
  await again(t, box);
  await box.sh('rm /bin/tmux');
}

async function again(t: Test, { terminals, handle }: TypedInto): Promise<void> {
  const pty = await terminals.open(handle, aTerminal('bare', { shell: '/bin/sh' }));
  const output = reader(pty);
  await output.until('ä漢😀|');
  pty.write('exit 9\r');
  await once(pty.stream, 'close', { signal: AbortSignal.timeout(20_000) });
  t.same(
    await pty.ending(),
    { kind: 'exited', code: 9 },
    'it was the same shell, and its exit code is known',
  );
}

/** The tools of a container are those of BusyBox as well. */
async function onlyBusyBox(instance: TestInstance): Promise<void> {
  const box = await aBox(instance);
  await t.test('BusyBox: commands and files work without other tools', async (t) => {
    t.match(await box.sh('tar --help 2>&1; :'), /BusyBox/);
  });
  await t.test('BusyBox: paths', (t) => pathsContract(t, box.files));
  await t.test('BusyBox: links are not followed out of the workspace', (t) => links(t, box));
  await t.test('BusyBox: an entry that is neither file nor folder is refused', (t) => special(t, box));
  await t.test('BusyBox: uploads', (t) => uploads(t, box));
  await t.test('BusyBox: terminals closed at once end', (t) => ended(t, instance, box));
  await t.test('BusyBox: statistics are read', async (t) => {
    const usage = await instance.insight.usage(box.handle);
    t.ok(usage.diskBytes !== null && usage.diskBytes > 0);
    t.ok(usage.cpuMillicores >= 0);
    t.match(await instance.insight.changes(box.handle), { complete: true, debian: [] });
  });
}

async function ended(t: Test, { terminals }: TestInstance, { handle, sh }: Box): Promise<void> {
  const marks = [randomUUID(), randomUUID(), randomUUID()];
  const left = async (): Promise<readonly string[]> => (await terminals.leftovers(handle)).marks;
  await sh(`for mark in ${marks.join(' ')}; do
    BERTH_TERM=$mark setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
  done`);
  t.same([...(await left())].sort(), [...marks].sort());
  await Promise.all(marks.map((mark) => terminals.endMarked(handle, mark)));
  t.same(await left(), []);

  const panes = ['pane-a', 'pane-b', 'pane-c'];
  const given = () => ({ shell: '/bb/sh', marker: randomUUID() });
  const open = await Promise.all(panes.map((pane) => terminals.open(handle, aTerminal(pane, given()))));
  t.equal(new Set(await left()).size, open.length);
  await Promise.all(open.map((pty) => pty.close()));
  t.same(await left(), []);
  await Promise.all(panes.map((pane) => terminals.killMuxSession(handle, pane)));
  t.same((await terminals.leftovers(handle)).sessions, []);
}
