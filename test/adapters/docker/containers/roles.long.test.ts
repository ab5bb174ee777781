import t, { type Test } from 'tap';
import { openDatabase, openPool } from '../../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../../src/adapters/postgres/storage.ts';
import type { Role } from '../../../../src/domain/containers/catalogue.ts';
import { collect } from '../../../contract/containers/inside/container-commands.ts';
import { roleInstallerContract, scripted } from '../../../contract/containers/role-setups.ts';
import { freshDatabase } from '../../../support/database/database.ts';
import { blockedIn, type OpenedStorage } from '../../../support/database/stored.ts';
import { aSpec, shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { anAdmin, aService, as } from '../../../support/service/service.ts';

const packaged = (packages: Role['packages'], script: string | null = null): Role => ({
  ...scripted(''),
  packages,
  script,
});

async function aBox({ runtime, commands, installer, image }: TestInstance) {
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  return {
    sh: shellIn(commands, handle, 120),
    open: (role: Role) => installer.install(handle, role),
    install: async (role: Role) => await collect(await installer.install(handle, role)),
  };
}

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await roleInstallerContract('docker', instance);
  await t.test("docker: a role's packages and script are installed", (t) => packages(t, instance));
  await t.test('docker: an interrupted installation is repaired', (t) => mended(t, instance));
  await t.test('docker: an installation waits for a busy package manager', (t) => busy(t, instance));
  await t.test("docker: a role uses the image's package manager", (t) => managers(t, instance));
}

async function packages(t: Test, instance: TestInstance): Promise<void> {
  const { sh, install } = await aBox(instance);
  const jq = packaged({ apt: ['jq'], apk: ['other'] }, 'jq -n 6*7 > /root-was-here\nid -u');
  const first = await install(jq);
  t.match(first, { exitCode: 0, stdout: /Setting up jq/ });
  t.match(first.stdout, /\n0\n$/, 'as root');
  t.equal(await sh('jq -n 1+1; cat /root-was-here'), '2\n42');
  const second = await install(jq);
  t.match(second, { exitCode: 0 });
  t.notMatch(second.stdout, /Setting up|Get:/, 'what is there is not fetched again');
  t.equal(await sh('ls /run/berth-role 2>/dev/null || echo nothing left'), 'nothing left');
  const missing = await install(packaged({ apt: ['no-such-package-at-all'] }, 'echo never'));
  t.match(missing, { exitCode: 100, stderr: /Unable to locate package no-such-package-at-all/ });
  t.notMatch(missing.stdout, /never/);
}

/** Ended while dpkg unpacks: the worst moment. */
async function mended(t: Test, instance: TestInstance): Promise<void> {
  const { sh, open, install } = await aBox(instance);
  const role = packaged({ apt: ['make', 'python3-minimal', 'unzip'] });
  const running = await open(role);
  let seen = '';
  for await (const event of running.events) {
    if (event.kind === 'output') seen += event.data;
    if (/Unpacking/.test(seen)) await running.end();
  }
  t.match(seen, /Unpacking/);
  t.notMatch(seen, /Setting up make/);
  t.match(await install(role), { exitCode: 0 });
  t.match(await sh('make --version; unzip -v; python3 -c "print(6*7)"; dpkg --audit'), /Make.*UnZip.*\n42$/s);
}

async function busy(t: Test, instance: TestInstance): Promise<void> {
  const { sh, install } = await aBox(instance);
  const hold = (file: string): string => `perl -e '
    use Fcntl; my $lock = pack("s s x4 l! l! i", F_WRLCK, 0, 0, 0, 0); open(F, "+>>", "${file}");
    fcntl(F, F_SETLK, $lock) or die; close(STDOUT); close(STDERR); close(STDIN); sleep 4' &`;
  await sh(`${hold('/var/lib/dpkg/lock-frontend')} ${hold('/var/lib/apt/lists/lock')} sleep 0.5`);
  const done = await install(packaged({ apt: ['jq'] }));
  t.match(done, { exitCode: 0, stdout: /waiting for another package manager\n.*Setting up jq/s });
}

/** Other distributions' package managers, simulated by scripts that print their arguments. */
async function managers(t: Test, instance: TestInstance): Promise<void> {
  const { sh, install } = await aBox(instance);
  const role = packaged({ apk: ['ruby', 'g++'], dnf: ['gcc-c++'] });
  t.match(await install(role), { exitCode: 1, stderr: /no packages for this image, which has apt\n/ });
  await sh(`mv /usr/bin/apt-get /usr/bin/apt-gone; for m in apk dnf; do
    printf '#!/bin/sh\\necho %s "$@"\\n' $m > /usr/local/bin/$m; chmod +x /usr/local/bin/$m; done`);
  t.match(await install(role), { exitCode: 0, stdout: 'apk add --no-cache --wait 300 ruby g++\n' });
  await sh('rm /usr/local/bin/apk');
  t.match(await install(role), { exitCode: 0, stdout: /^dnf -y .* install gcc-c\+\+\n$/ });
  await sh('rm /usr/local/bin/dnf');
  t.match(await install(role), { exitCode: 1, stderr: /which has no package manager\n/ });
  t.match(await install(scripted('echo alone')), { exitCode: 0, stdout: 'alone\n' });
}

/** Storage in a database of its own; null when the test was skipped. */
async function aDatabase(t: Test): Promise<OpenedStorage | null> {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const pool = openPool({ url });
  const db = openDatabase(pool);
  t.teardown(() => db.destroy());
  return { ...postgresStorage(db), blocked: blockedIn(db) };
}

/**
 * The command that proves each role. The usual run tries the smallest; ROLES names others, or all, which takes minutes.
 */
const PROMISES: Readonly<Record<string, string>> = {
  python: 'python3 -m venv /tmp/v && /tmp/v/bin/python -c "print(6*7)" && pip3 --version',
  node: 'node -e "console.log(6*7)" && npm --version',
  go: 'cd /tmp && printf "package main\\nfunc main() { println(6*7) }\\n" > a.go && go run a.go && gcc --version',
  rust: 'cd /tmp && echo "fn main() { println!(\\"{}\\", 6*7) }" > a.rs && rustc a.rs && ./a && cargo --version',
  devops:
    'ansible --version && kubectl version --client && jq -n 6*7 && dig -v && make -v && rsync -V && zip -v',
  standard: 'git --version && curl --version && tmux -V',
};
const asked = process.env['ROLES'] ?? 'standard,python';
const chosen = asked === 'all' ? Object.keys(PROMISES) : asked.split(',');
const size = { memory_mb: 1024, cpu_shares: 2000, disk_mb: 2048 };

t.setTimeout(chosen.length * 300_000);

/** The service on a real engine and a real database. */
async function aboard(t: Test) {
  const [engine, storage] = [await engineOrSkip(t), await aDatabase(t)];
  if (engine === null || storage === null) return null;
  const { runtime, installer, commands } = await testInstance(t, engine);
  const clock = { now: () => new Date() };
  const service = await aService({ storage, runtime, installer, commands, clock });
  return { call: as(service, await anAdmin(service)), idle: () => service.roleSetups.idle() };
}

t.test("a container gets its role's tools, and again with another disk", async (t) => {
  const scene = await aboard(t);
  if (scene === null) return;
  const { call, idle } = scene;
  const { roles } = (await call('GET', '/api/roles')).json();
  t.same(roles.map(({ key }: { key: string }) => key).sort(), Object.keys(PROMISES).sort());

  for (const role of chosen) {
    const made = (await call('POST', '/api/containers', { name: role, role, ...size })).json();
    const path = `/api/containers/${made.db_id}`;
    const keeps = async (when: string): Promise<void> => {
      await idle();
      const { status, detail } = (await call('GET', path)).json().role_setup;
      t.equal(status, role === 'standard' ? 'none' : 'ready', `${role} ${when}: ${detail}`);
      const command = ['sh', '-ec', PROMISES[role] ?? 'exit 1'];
      const ran = (await call('POST', `${path}/exec`, { command, timeout_seconds: 120 })).json();
      t.equal(ran.exit_code, 0, `${role} ${when}: ${ran.stdout}${ran.stderr}`);
    };
    t.equal(made.role_setup.status, role === 'standard' ? 'none' : 'installing');
    await keeps('after the creation');
    if (role === 'python') {
      const changed = (await call('PATCH', path, { name: role, ...size, disk_mb: 2560 })).json();
      t.match(changed, { restarted: true, container: { role_setup: { status: 'installing' } } });
      await keeps('with another disk');
    }
    await call('DELETE', path);
  }
});
