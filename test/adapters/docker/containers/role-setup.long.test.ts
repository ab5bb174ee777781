import t, { type Test } from 'tap';
import { aDatabase } from '../../../support/database/service.ts';
import { engineOrSkip, testInstance } from '../../../support/engine/engine.ts';
import { anAdmin, aService, as } from '../../../support/service/service.ts';

/** What each role promises. The usual run looks at the smallest; ROLES names others, or all, which takes minutes. */
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

t.test('the tools of a role are in its container, and come back with another disk', async (t) => {
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
