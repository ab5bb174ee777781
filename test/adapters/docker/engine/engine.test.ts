import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import t, { type Test } from 'tap';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { cgroupName, INSTANCE_LABEL } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { missingEnginePackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import { dockerPrograms } from '../../../../src/adapters/docker/exec/container-programs.ts';
import {
  isRoot,
  processes,
  readText,
  run,
  signal,
  startTicks,
} from '../../../../src/adapters/docker/host/host-commands.ts';
import { ensureNetwork } from '../../../../src/adapters/docker/network/instance-network.ts';
import {
  type Engine,
  openEngine,
  type RunningEngine,
} from '../../../../src/adapters/docker/private-engine/open-engine.ts';
import { findDaemon } from '../../../../src/adapters/docker/private-engine/private-engine.ts';
import { layoutOf } from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { viewMounts, viewOf } from '../../../../src/adapters/docker/resource-view/resource-view.ts';
import { runScript } from '../../../../src/adapters/scripts/exec/run-script.ts';
import { runProcess } from '../../../support/child.ts';
import { canRunLxcfs, engineOrSkip, tinyImage } from '../../../support/engine/engine.ts';
import { waitFor } from '../../../support/patience.ts';
import { silentLog } from '../../../support/samples/samples.ts';

const hasOwnDocker = (await probe(addressOf('unix:///var/run/docker.sock', null))).answers;

await t.test('a running engine is used and left alone', externalEngine);
await t.test('a machine without an engine gets the step to install one', noEngine);
if (!isRoot() || hasOwnDocker || (await missingEnginePackages()).length > 0) {
  const reason = 'a private engine needs root, its packages, and no other engine';
  t.pass('a private engine', { skip: reason });
} else {
  await t.test('a private engine starts, is found again, and stops without a trace', privateEngine);
  await t.test('containers survive a killed service and a killed engine', survival);
  await t.test('containers survive a dead lxcfs, and see their limits again', deadLxcfs);
}

async function dataDirFor(t: Test): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-engine-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

function open(dataDir: string, given: Partial<Parameters<typeof openEngine>[0]> = {}): Promise<Engine> {
  return openEngine({
    dataDir,
    mode: 'auto',
    dockerHost: null,
    progress: () => {},
    log: silentLog,
    ...given,
  });
}

async function openPrivate(dataDir: string): Promise<RunningEngine> {
  const engine = await open(dataDir);
  if (engine.kind !== 'private') throw new Error(`not a private engine: ${engine.mend ?? engine.kind}`);
  return engine;
}

async function externalEngine(t: Test): Promise<void> {
  const other = await engineOrSkip(t);
  if (other === null) return;
  const dataDir = await dataDirFor(t);
  const engine = await open(dataDir, { dockerHost: other.endpoint, mode: 'external' });
  t.match(engine, { kind: 'external', endpoint: other.endpoint, isLocal: other.isLocal, mend: null });
  t.match(engine.version, /^\d+\./);
  await engine.stop();
  t.ok((await probe(addressOf(other.endpoint, null))).answers, 'stopping Berth does not stop it');
  const gone = await open(dataDir, { dockerHost: 'unix:///nonexistent.sock' });
  if (hasOwnDocker) return;
  t.match(
    gone,
    { kind: 'none', mend: /start the engine at/ },
    'no other engine takes its place: it has the volumes',
  );
  t.equal(await findDaemon(layoutOf(dataDir)), null);
}

async function noEngine(t: Test): Promise<void> {
  const dataDir = await dataDirFor(t);
  for (const dockerHost of [
    'unix:///nonexistent.sock',
    'tcp://127.0.0.1:9',
    'ssh://nowhere',
    'not an address',
  ]) {
    if (hasOwnDocker) return t.comment('this machine has an engine of its own');
    const engine = await open(dataDir, { mode: 'external', dockerHost });
    t.match(engine, { kind: 'none', docker: null, mend: /systemctl start docker.*BERTH_ENGINE/ }, dockerHost);
    await engine.stop();
  }
  t.equal(await findDaemon(layoutOf(dataDir)), null, 'external forbids an engine of its own');
}

async function privateEngine(t: Test): Promise<void> {
  const dataDir = await dataDirFor(t);
  await chmod(dataDir, 0o700);
  const at = layoutOf(dataDir);
  const said: string[] = [];
  const secret = `hunter2-${at.hash}`;
  process.env['BERTH_ADMIN_PASSWORD'] = secret;
  t.teardown(() => delete process.env['BERTH_ADMIN_PASSWORD']);
  const engine = await open(dataDir, { progress: (message) => said.push(message) });
  if (engine.docker === null) throw new Error(engine.mend);
  const own = (await processes()).filter(({ argv }) => argv.some((arg) => arg.includes(at.hash)));
  t.ok(own.length >= 2, 'dockerd and containerd run');
  for (const { pid, argv } of own)
    t.notMatch(
      await readText(`/proc/${pid}/environ`),
      secret,
      `${argv[0]} has no password in its environment`,
    );
  t.match(engine, { kind: 'private', endpoint: `unix://${at.socket}`, isLocal: true });
  t.match(said, [/private container engine/]);
  const instanceId = `test-${at.hash}`;
  const network = await ensureNetwork(engine, { instanceId, log: silentLog });
  const container = await runTiny(engine.docker, network.name, `/${cgroupName(instanceId)}`);
  t.match(await container.inspect(), { State: { Running: true } });
  await engine.stop();
  const left = (await processes()).filter(({ argv }) => argv.some((arg) => arg.includes(at.hash)));
  t.same(left, [], 'no process is left');
  const traces = await Promise.all([
    run('ip', ['-brief', 'link']),
    run('iptables-save', []),
    readText('/proc/self/mountinfo'),
  ]);
  const text = JSON.stringify(traces);
  for (const trace of [at.bridge, network.bridge, network.bridge.slice(-8), at.run])
    t.notOk(text.includes(trace), trace);
  t.notOk(existsSync(at.run));

  const again = await openPrivate(dataDir);
  const kept = await again.docker.listContainers({ all: true });
  t.match(
    kept,
    [{ Id: container.id, State: 'exited', Status: /^Exited \(0\)/ }],
    'what was made is still there, and was not killed',
  );
  await again.stop();
}

async function survival(t: Test): Promise<void> {
  const dataDir = await dataDirFor(t);
  const at = layoutOf(dataDir);
  const child = runProcess(t, process.execPath, [
    join(import.meta.dirname, '../../../support/engine/engine-child.ts'),
    dataDir,
  ]);
  t.match(JSON.parse(await child.line()), { kind: 'private' });
  const beside = await openPrivate(dataDir);
  const container = await runTiny(beside.docker, 'none', null);
  const daemon = await findDaemon(at);
  await beside.stop();
  t.equal((await findDaemon(at))?.pid, daemon?.pid, 'who only joined does not stop it');

  child.process.kill('SIGKILL');
  await child.ended;
  const heir = await openPrivate(dataDir);
  t.equal((await findDaemon(at))?.pid, daemon?.pid, 'the engine of a killed service is taken over');
  const before = (await container.inspect()).State;
  t.equal(before.Running, true);

  signal(daemon?.pid ?? 0, 'SIGKILL');
  const isGone = async (): Promise<boolean> => (await startTicks(daemon?.pid ?? 0)) === null;
  await waitFor(isGone, { what: 'the killed engine is gone' });
  const restarted = await openPrivate(dataDir);
  t.not((await findDaemon(at))?.pid, daemon?.pid);
  const after = (await restarted.docker.getContainer(container.id).inspect()).State;
  t.match(after, { Running: true, Pid: before.Pid }, 'its containers went on without it');

  const hung = await findDaemon(at);
  signal(hung?.pid ?? 0, 'SIGSTOP');
  const replaced = await openPrivate(dataDir);
  t.match(
    (await replaced.docker.getContainer(container.id).inspect()).State,
    { Running: true, Pid: before.Pid },
    'nor does a hung one hold them',
  );
  await heir.stop();
  t.equal(await findDaemon(at), null);
}

async function deadLxcfs(t: Test): Promise<void> {
  const dataDir = await dataDirFor(t);
  const first = await openPrivate(dataDir);
  const view = (await viewOf(layoutOf(dataDir))) ?? '';
  const isPossible = await canRunLxcfs();
  const expectedKb = isPossible ? 65_536 : Math.floor(totalmem() / 1024);
  const early = await runTiny(first.docker, 'none', null, viewMounts(view));
  const programs = dockerPrograms(engineCalls(first.docker));
  /** Null while lxcfs does not answer. */
  const seenBy = async ({ id }: Docker.Container): Promise<number | null> =>
    Number(await runScript(programs, id, 'read _ kb _ < /proc/meminfo && echo "$kb"', [])) || null;
  const sees = async (container: Docker.Container, says: string): Promise<void> => {
    const isSeen = async (): Promise<boolean> => (await seenBy(container)) === expectedKb;
    await waitFor(isSeen, { what: says });
    t.pass(says);
  };
  await sees(early, 'a container sees its own memory');
  t.equal((await first.view.fault()) === null, isPossible);
  const pidOf = async (name: string): Promise<number> => Number(await readText(join(view, name)));
  const pidOfEarly = (await early.inspect()).State.Pid;
  if (isPossible) {
    const own = `/proc/${await pidOf('lxcfs.pid')}`;
    t.match(
      await readText(`${own}/limits`),
      /^Max address space +536870912 /m,
      'programs cannot fill memory by it',
    );
    t.equal((await readText(`${own}/oom_score_adj`))?.trim(), '500', 'it ends before the engine');
    const late = await runTiny(first.docker, 'none', null, viewMounts(view));
    for (const round of ['once', 'twice']) {
      const dead = await pidOf('lxcfs.pid');
      signal(dead, 'SIGKILL');
      await waitFor(async () => ![0, dead].includes(await pidOf('lxcfs.pid')), { what: 'another lxcfs' });
      for (const each of [early, late]) await sees(each, `killed ${round}`);
    }
    const supervisor = await pidOf('pid');
    signal(supervisor, 'SIGKILL');
    await waitFor(async () => (await startTicks(supervisor)) === null, { what: 'no supervisor' });
    await sees(late, 'without a supervisor lxcfs goes on');
    await first.view.supervise();
    await waitFor(async () => (await pidOf('pid')) !== supervisor, { what: 'another supervisor' });
    for (const each of [early, late]) await sees(each, 'of another supervisor');
  }
  const heir = await openPrivate(dataDir);
  await sees(early, 'after another start of Berth');
  t.equal((await early.inspect()).State.Pid, pidOfEarly, 'its program never ended');
  t.not(await readText('/proc/meminfo'), null);
  t.match(await readText('/proc/meminfo'), new RegExp(`MemTotal: +${Math.floor(totalmem() / 1024)} kB`));
  await heir.stop();
  t.same((await readText('/proc/self/mountinfo'))?.includes(view), false, 'no mount is left');
  t.same(
    (await processes()).filter(({ argv }) => argv.some((arg) => arg.includes(view))),
    [],
    'and no process',
  );
}

/** A container of an image made from this machine's own shell, without a download. */
async function runTiny(
  docker: Docker,
  network: string,
  cgroupParent: string | null,
  Mounts: Docker.MountConfig = [],
): Promise<Docker.Container> {
  await tinyImage(docker, 'tiny:latest', ['sleep']);
  const container = await docker.createContainer({
    Image: 'tiny',
    Cmd: ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 60 & wait $!; done"],
    Labels: { [INSTANCE_LABEL]: 'test' },
    HostConfig: {
      Init: true,
      NetworkMode: network,
      Memory: 64 * 2 ** 20,
      Mounts,
      ...(cgroupParent === null ? {} : { CgroupParent: cgroupParent }),
    },
  });
  await container.start();
  return container;
}
