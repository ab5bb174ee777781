import t from 'tap';
import { dockerKernelShares } from '../../src/adapters/docker/kernel/kernel-shares.ts';
import { aSpec } from '../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../support/engine/engine.ts';
import { SURVEY } from '../support/engine/kernel-attacks.ts';

const OPEN_FILES = 2_048;
/** So much that the limits are met before the memory is. */
const resources = { memoryMb: 1024, cpuMillicores: 2000, diskMb: 512 };

const REFUSED = [
  ...['add_key', 'keyctl', 'fanotify_init', 'perf_event_open', 'bpf', 'userfaultfd', 'unshare', 'syslog'],
  ...['write fs/inotify/max_user_instances', 'write user/max_inotify_instances'],
  ...['write kernel/keys/maxkeys', 'write kernel/pty/max', 'lock 16 MiB'],
];
const ABSENT = ['device loop-control', 'device kmsg', 'device mem'];

t.setTimeout(120_000);
t.test('limits that a container shares, tried from inside', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const instance = await testInstance(t, engine, undefined, OPEN_FILES);
  const { runtime, image, instanceId } = instance;
  const handle = await runtime.create(aSpec(image, { resources }));
  await runtime.start(handle);
  await dockerKernelShares({ instanceId, openFiles: OPEN_FILES }).read();
  const command = ['perl', '-e', SURVEY];
  const { stdout, stderr } = await runtime.exec(handle, {
    command,
    timeoutSeconds: 90,
    maxOutputBytes: 10_000,
  });
  t.equal(stderr.toString(), '');
  const lines = stdout.toString().trim().split('\n');
  const found = new Map(
    lines.map((line): [string, string] => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']),
  );
  for (const line of lines) t.comment(line);
  for (const name of REFUSED) t.equal(found.get(name), 'refused', name);
  for (const name of ABSENT) t.equal(found.get(name), 'absent', name);
  const most = (name: string, count: number): void => {
    const got = Number(found.get(name));
    t.ok(got > 0 && got <= count, `${name}: ${got}, at most ${count}`);
  };
  most('inotify instances of a user', 1_024);
  most('timers of a user', 4_096);
  most('message queues of a user', 9);
  most('open files of a process', OPEN_FILES);
  most('processes', 512);
  t.equal(found.get('terminals'), '300', 'as many as are tried');
  t.equal(found.get('pipes'), '400');
  t.equal(found.get('epoll watches'), '400');
  t.equal(found.get('System V segments'), '100');
  t.ok(Number(found.get('neighbours')) > 1_024, 'more than the default leaves for the whole machine');
  t.equal(found.get('room in the last pipe'), '65536', 'pipes keep their size');
  t.equal(found.get('entropy'), '65536', 'is never used up');
});
