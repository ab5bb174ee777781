import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import {
  limitsWarning,
  lowLimits,
  raiseLimits,
  SHARED_LIMITS,
} from '../../../../src/adapters/docker/kernel/kernel-limits.ts';
import { keysOf } from '../../../../src/adapters/docker/kernel/kernel-totals.ts';
import { bytesOfQueues } from '../../../../src/adapters/docker/kernel/message-queues.ts';
import {
  addressesIn,
  aioRequestsIn,
  counted,
  keysIn,
  sourcesIn,
} from '../../../../src/adapters/docker/kernel/scarce-counters.ts';
import { aFolder } from '../../../support/folder.ts';

/** A folder like /proc/sys. */
function aKernel(t: Test, values: Readonly<Record<string, number>>) {
  const folder = aFolder(t);
  const fileOf = (name: string): string => path.join(folder, ...name.split('.'));
  for (const [name, value] of Object.entries(values)) {
    mkdirSync(path.dirname(fileOf(name)), { recursive: true });
    writeFileSync(fileOf(name), `${value}\n`);
  }
  return { folder, now: (name: string): number => Number(readFileSync(fileOf(name), 'utf8')) };
}

t.test('limits that containers share are raised', async (t) => {
  const kernel = aKernel(t, Object.fromEntries(SHARED_LIMITS.map(({ name }) => [name, 1])));
  t.same(await raiseLimits(kernel.folder), []);
  for (const { name, atLeast } of SHARED_LIMITS) t.equal(kernel.now(name), atLeast, name);
});

t.test('no limit is lowered', async (t) => {
  const name = 'fs.inotify.max_user_instances';
  const kernel = aKernel(t, { [name]: 100_000, 'fs.pipe-user-pages-soft': 0 });
  t.same(await raiseLimits(kernel.folder), []);
  t.equal(kernel.now(name), 100_000);
  t.equal(kernel.now('fs.pipe-user-pages-soft'), 0, 'zero is no limit');
});

t.test('a kernel without the limits stays as it is', async (t) => {
  t.same(await raiseLimits(path.join(aFolder(t), 'none')), []);
});

t.test('a limit that cannot be raised comes with its sysctl command', async (t) => {
  const kernel = aKernel(t, { 'fs.inotify.max_user_instances': 128, 'kernel.keys.maxkeys': 0 });
  const low = await lowLimits(kernel.folder);
  t.same(
    low.map(({ name }) => name),
    ['kernel.keys.maxkeys', 'fs.inotify.max_user_instances'],
  );
  t.match(limitsWarning(low), /sysctl -w kernel\.keys\.maxkeys=20000 fs\.inotify\.max_user_instances=65536$/);
  t.equal(limitsWarning([]), null);
});

t.test("a user's keys count by number or by bytes, whichever runs out first", async (t) => {
  const users = [
    '    0:     9 8/8 3/1000000 48/25000000',
    '100000:   400 400/400 400/20000 28000/2000000',
    '100001:     1 1/1 1/200 15000/20000',
    '',
  ].join('\n');
  t.same(keysOf(users, 100_000), { used: 400, limit: 20_000 });
  t.same(keysOf(users, 100_001), { used: 150, limit: 200 }, 'bytes that run out first');
  t.same(keysOf(users, 0), { used: 3, limit: 1_000_000 });
  t.equal(keysOf(users, 1000), null);
});

t.test("session keys belong to containers by the runtime's names", async (t) => {
  const id = 'ab'.repeat(32);
  const list = [
    `013f5bd6 I--Q---     2 perm 3f1b0000 100000 100000 keyring   _ses.${id}: empty`,
    `0242cf9e I--Q---     1 perm 3f1b0000 100000 100000 keyring   _ses.${id}: 1`,
    '2c6c679c I--Q---     1 perm 1f3f0000 100000 65534 keyring   _uid_ses.100000: 1',
    `2c6c679d I--Q---     1 perm 3f010000 100000 100000 user      mine_ses.${id}: 4`,
  ].join('\n');
  t.same([...counted(new Map(), keysIn(list))], [[id, 2]]);
});

t.test('io_setup requests count by the memory of their rings', async (t) => {
  const maps = [
    '7f0000000000-7f0000010000 rw-s 00000000 00:10 3901                       /[aio] (deleted)',
    '7f0000010000-7f0000011000 rw-p 00000000 08:01 4242                       /usr/lib/[aio].so',
    '7f0000020000-7f0000021000 rw-s 00000000 00:10 3902                       /[aio] (deleted)',
    '',
  ].join('\n');
  t.equal(aioRequestsIn(maps), (65_536 + 4_096) / 64);
  t.equal(aioRequestsIn(''), 0);
});

t.test('connections belong to the address that began them', async (t) => {
  const table = [
    'ipv4     2 tcp      6 431999 ESTABLISHED src=10.150.96.3 dst=192.0.2.1 sport=40000 dport=443 src=192.0.2.1 dst=203.0.113.5 sport=443 dport=40000 [ASSURED] mark=0 zone=0 use=2',
    'ipv4     2 udp      17 29 src=10.150.96.3 dst=192.0.2.53 sport=53000 dport=53 [UNREPLIED] src=192.0.2.53 dst=203.0.113.5 sport=53 dport=53000 mark=0 zone=0 use=2',
    'ipv4     2 tcp      6 100 TIME_WAIT src=10.150.96.4 dst=10.150.96.3 sport=1 dport=2 src=10.150.96.3 dst=10.150.96.4 sport=2 dport=1 mark=0 use=2',
    '',
  ].join('\n');
  t.same(
    [...counted(new Map(), sourcesIn(table))],
    [
      ['10.150.96.3', 2],
      ['10.150.96.4', 1],
    ],
  );
});

t.test("a container's addresses are read", async (t) => {
  const routes = [
    'Main:',
    '  +-- 0.0.0.0/0 3 0 5',
    '     |-- 0.0.0.0',
    '        /0 universe UNICAST',
    '     |-- 10.150.96.3',
    '        /32 host LOCAL',
    '     |-- 10.150.111.255',
    '        /32 link BROADCAST',
    '     |-- 127.0.0.1',
    '        /32 host LOCAL',
    'Local:',
    '     |-- 10.150.96.3',
    '        /32 host LOCAL',
    '',
  ].join('\n');
  t.same(addressesIn(routes), ['10.150.96.3']);
});

t.test("message queues count with the kernel's overhead per message", async (t) => {
  t.equal(bytesOfQueues('10 8192\n'), 82_880, 'one of the usual size');
  t.equal(bytesOfQueues('1 1\n10 8192\n'), 97 + 82_880);
  t.equal(bytesOfQueues(''), 0);
});
