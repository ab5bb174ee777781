import t from 'tap';
import type { memoryStorage } from '../../src/adapters/memory/index.ts';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { RuntimeFailure, RuntimeUnavailable } from '../../src/ports/container-runtime.ts';
import type { RoleInstaller } from '../../src/ports/role-installer.ts';
import { waitFor } from '../support/patience.ts';
import { aGuest, anAdmin, aPerson, aService, as } from '../support/service/service.ts';
import { auditOf } from '../support/service/sign-ins.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

/** A service whose installer is counted, and may be replaced for one time; `make` makes a container with that script. */
async function aboard() {
  const runtime = memoryRuntime();
  const { installer: works } = memoryAccess(runtime);
  const calls: string[] = [];
  const next: RoleInstaller['install'][] = [];
  const installer: RoleInstaller = {
    install(handle, role) {
      calls.push(handle.runtimeId);
      return (next.shift() ?? works.install)(handle, role);
    },
  };
  const service = await aService({ runtime, installer });
  const root = as(service, await anAdmin(service));
  const call = as(service, await aPerson(service, 'ada'));
  const script = async (text: string) => {
    const made = await root('POST', '/api/admin/roles', { key: 'test', label: 'Test', script: text });
    if (made.statusCode === 409) await root('PATCH', '/api/admin/roles/test', { script: text });
  };
  const make = async (text: string) => {
    await script(text);
    const box = (await call('POST', '/api/containers', { name: 'dev', role: 'test', ...small })).json();
    const path = `/api/containers/${box.db_id}`;
    return {
      box,
      now: async () => (await call('GET', path)).json(),
      post: (action: string) => call('POST', `${path}/${action}`),
      patch: (over: object) => call('PATCH', path, { name: 'dev', ...small, ...over }),
      remove: () => call('DELETE', path),
    };
  };
  const idle = () => service.roleSetups.idle();
  return { service, runtime, call, root, calls, next, script, make, idle };
}

type Scene = Awaited<ReturnType<typeof aboard>>;

const eventsOf = ({ service }: Scene) =>
  (service.ports.storage as ReturnType<typeof memoryStorage>).state.events;

const begun = (scene: Scene, count: number) => waitFor(() => scene.calls.length >= count);

t.test('a container of the default role installs nothing', async (t) => {
  const scene = await aboard();
  const box = (await scene.call('POST', '/api/containers', { name: 'dev', ...small })).json();
  t.match(box, { role: 'standard', status: 'running', role_setup: { status: 'none', detail: null } });
  await scene.idle();
  t.same(scene.calls, []);
  const retry = await scene.call('POST', `/api/containers/${box.db_id}/role-setup/retry`);
  t.same([retry.statusCode, retry.json().code], [409, 'role_setup_not_needed']);
});

t.test('tools are installed after the creation, in the background, and that is told', async (t) => {
  const scene = await aboard();
  const { box, now } = await scene.make('echo \u001b[32mfirst\u001b[0m\necho second');
  t.match(box, { status: 'running', role_setup: { status: 'installing' } });
  await scene.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'first\nsecond' });
  const progress = eventsOf(scene).filter(({ type }) => type === 'container_progress');
  const { db_id, id } = box;
  t.match(progress.at(-1)?.data, {
    db_id,
    id,
    name: 'dev',
    status: 'running',
    role_setup: { status: 'ready', detail: 'second' },
  });
});

t.test('a failure leaves the container usable, and can be tried again', async (t) => {
  const scene = await aboard();
  const { now, post } = await scene.make('echo no such package\nexit 100');
  await scene.idle();
  t.match(await now(), {
    status: 'running',
    status_reason: null,
    role_setup: { status: 'failed', detail: 'no such package\nended with 100' },
  });
  const { dbId } = (await scene.service.ports.storage.repositories.containers.listAllLive())[0] ?? {
    dbId: '',
  };
  const exec = await scene.call('POST', `/api/containers/${dbId}/exec`, { command: ['echo', 'usable'] });
  t.equal(exec.json().stdout, 'usable\n');

  await scene.script('echo better');
  const retried = await post('role-setup/retry');
  t.match([retried.statusCode, retried.json().role_setup], [200, { status: 'installing', detail: null }]);
  await scene.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'better' });
  t.equal(auditOf(scene.service, 'role_setup_retried').length, 1);
  t.equal((await post('role-setup/retry')).statusCode, 200, 'what is ready can be brought up to date');
  await scene.idle();
  t.equal(scene.calls.length, 3);
});

t.test('what is under way can be cancelled, and a retry does not begin it twice', async (t) => {
  const scene = await aboard();
  const { now, post } = await scene.make('echo begun\nsleep 60');
  await begun(scene, 1);
  t.equal((await post('role-setup/retry')).json().role_setup.status, 'installing');
  t.equal(scene.calls.length, 1);
  const cancelled = await post('role-setup/cancel');
  t.match(
    [cancelled.statusCode, cancelled.json().role_setup],
    [200, { status: 'failed', detail: /cancelled$/ }],
  );
  await scene.idle();
  t.match(await now(), { status: 'running', role_setup: { status: 'failed' } });
  const again = await post('role-setup/cancel');
  t.same([again.statusCode, again.json().code], [409, 'role_setup_not_active']);
  t.match(auditOf(scene.service, 'role_setup_cancelled'), [{ details: /^[0-9a-f-]{36}$/ }]);
  t.equal(auditOf(scene.service, 'role_setup_retried').length, 0, 'nothing was begun anew');
});

t.test('a stop interrupts, and the next start goes on', async (t) => {
  const scene = await aboard();
  const { now, post } = await scene.make('sleep 60');
  await begun(scene, 1);
  t.equal((await post('stop')).statusCode, 200);
  await scene.idle();
  t.match(await now(), { status: 'stopped', role_setup: { status: 'none', detail: /as soon as/ } });
  t.equal((await post('role-setup/retry')).json().code, 'container_not_running');
  await scene.script('echo done');
  await post('start');
  await scene.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'done' });
  await post('stop');
  await post('start');
  await scene.idle();
  t.equal(scene.calls.length, 2, 'what is ready stays ready');
});

t.test('one that ended by itself in the middle goes on when it is started', async (t) => {
  const scene = await aboard();
  const { box, now, post } = await scene.make('sleep 60');
  await begun(scene, 1);
  await scene.runtime.stop({ node: 'memory', runtimeId: box.id }, 0);
  await scene.idle();
  await scene.service.reconcile();
  t.match(await now(), { status: 'stopped', role_setup: { status: 'none', detail: /as soon as/ } });
  await scene.script('echo done');
  await post('start');
  await scene.idle();
  t.equal((await now()).role_setup.status, 'ready');
});

for (const [what, over, times] of [
  ['another disk', { disk_mb: 1024 }, 2],
  ['more memory', { memory_mb: 512 }, 2],
  ['another name', { name: 'other' }, 1],
] as const) {
  t.test(`with ${what} tools are installed ${times === 2 ? 'again' : 'no second time'}`, async (t) => {
    const scene = await aboard();
    const { box, now, patch } = await scene.make('echo done');
    await scene.idle();
    const answer = await patch(over);
    t.match(answer.json().container.role_setup.status, times === 2 ? 'installing' : 'ready');
    await scene.idle();
    t.equal((await now()).role_setup.status, 'ready');
    t.equal(scene.calls.length, times);
    t.equal(scene.calls.at(-1) === box.id, times === 1, 'in the new container');
  });
}

t.test('a recreate in the middle ends the one and begins the other', async (t) => {
  const scene = await aboard();
  const { now, patch } = await scene.make('sleep 60');
  await begun(scene, 1);
  await scene.script('echo done');
  t.equal((await patch({ disk_mb: 1024 })).statusCode, 200);
  await scene.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'done' });
  t.equal(scene.calls.length, 2);
});

t.test('one that vanished and is made anew gets its tools again', async (t) => {
  const scene = await aboard();
  const { box, now, post } = await scene.make('echo done');
  await scene.idle();
  await scene.runtime.remove({ node: 'memory', runtimeId: box.id });
  t.match((await post('start')).json(), { recreated: true });
  await scene.idle();
  t.equal((await now()).role_setup.status, 'ready');
  t.equal(scene.calls.length, 2);
});

t.test('a delete in the middle ends it; what is restored gets its tools when it runs', async (t) => {
  const scene = await aboard();
  const { now, post, remove } = await scene.make('sleep 60');
  await begun(scene, 1);
  t.equal((await remove()).statusCode, 200);
  await scene.idle();
  t.equal((await post('role-setup/retry')).statusCode, 404);
  t.equal((await post('role-setup/cancel')).statusCode, 404);
  t.match((await post('restore')).json(), { status: 'stopped', role_setup: { status: 'none' } });
  await scene.script('echo done');
  await post('start');
  await scene.idle();
  t.equal((await now()).role_setup.status, 'ready');
  t.equal(scene.calls.length, 2);
});

t.test('a role that the catalogue has lost is told', async (t) => {
  const scene = await aboard();
  const { now, post, remove } = await scene.make('echo done');
  await scene.idle();
  await remove();
  t.equal((await scene.root('DELETE', '/api/admin/roles/test')).statusCode, 200);
  await post('restore');
  await post('start');
  await scene.idle();
  t.match((await now()).role_setup, { status: 'failed', detail: /no role test any more/ });
});

t.test('only the owner may retry and cancel, and guests whose time is over may not begin', async (t) => {
  const scene = await aboard();
  const { box } = await scene.make('echo done');
  const eve = as(scene.service, await aPerson(scene.service, 'eve'));
  for (const action of ['retry', 'cancel']) {
    t.equal((await eve('POST', `/api/containers/${box.db_id}/role-setup/${action}`)).statusCode, 404);
    t.equal((await eve('POST', `/api/containers/nonsense/role-setup/${action}`)).statusCode, 404);
  }
  const guest = await aGuest(scene.service);
  const asGuest = as(scene.service, guest);
  const theirs = (await asGuest('POST', '/api/containers', { name: 'g', role: 'test', ...small })).json();
  await scene.idle();
  const state = (scene.service.ports.storage as ReturnType<typeof memoryStorage>).state;
  state.users = state.users.map((user) =>
    user.id === guest.id ? { ...user, guestUntil: new Date(0) } : user,
  );
  scene.service.clock.advance(2_000);
  const retry = await asGuest('POST', `/api/containers/${theirs.db_id}/role-setup/retry`);
  t.same([retry.statusCode, retry.json().error], [403, 'guest session expired']);
});

/** An installer that never gets anywhere: the process that waits for it might as well be dead. */
const never: RoleInstaller['install'] = () => new Promise(() => {});

t.test('what a killed process has left is taken over once its lease is over, by one process', async (t) => {
  const scene = await aboard();
  scene.next.push(never);
  const { now } = await scene.make('echo done');
  await begun(scene, 1);
  const others = [await aService(scene.service.ports), await aService(scene.service.ports)];
  const look = () => Promise.all(others.map(({ roleSetups }) => roleSetups.keep()));
  await look();
  t.equal(scene.calls.length, 1, 'not before');
  scene.service.clock.advance(16_000);
  await look();
  for (const { roleSetups } of others) await roleSetups.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'done' });
  t.equal(scene.calls.length, 2, 'once');
});

t.test('a process that lives keeps its lease', async (t) => {
  const scene = await aboard();
  const { post } = await scene.make('sleep 60');
  await begun(scene, 1);
  const other = await aService(scene.service.ports);
  for (let n = 0; n < 4; n += 1) {
    scene.service.clock.advance(10_000);
    await scene.service.roleSetups.keep();
    await other.roleSetups.keep();
  }
  t.equal(scene.calls.length, 1);
  await post('role-setup/cancel');
  await scene.idle();
});

t.test('a service that stops leaves it to the next at once', async (t) => {
  const scene = await aboard();
  const { now } = await scene.make('sleep 60');
  await begun(scene, 1);
  await scene.service.roleSetups.close();
  t.equal((await now()).role_setup.status, 'installing', 'it is not over');
  await scene.script('echo done');
  const next = await aService(scene.service.ports);
  await next.roleSetups.keep();
  await next.roleSetups.idle();
  t.equal((await now()).role_setup.status, 'ready');
});

t.test('a silent engine is no failure of the tools', async (t) => {
  const scene = await aboard();
  scene.next.push(async () => {
    throw new RuntimeUnavailable('no answer');
  });
  const { now } = await scene.make('echo done');
  await begun(scene, 1);
  await scene.idle();
  t.equal((await now()).role_setup.status, 'installing');
  scene.service.clock.advance(16_000);
  await scene.service.roleSetups.keep();
  await scene.idle();
  t.equal((await now()).role_setup.status, 'ready');
});

t.test('the words of the engine stay with us', async (t) => {
  const scene = await aboard();
  scene.next.push(async () => {
    throw new RuntimeFailure('open /var/lib/docker/secret: no space', 500);
  });
  const { now } = await scene.make('echo done');
  await scene.idle();
  t.same((await now()).role_setup, { status: 'failed', detail: 'the engine could not run the installer' });
});

t.test('who prints without end is ended', async (t) => {
  const scene = await aboard();
  let ended = false;
  const data = Buffer.alloc(1_048_576, 'x\n');
  scene.next.push(async () => ({
    events: (async function* () {
      while (!ended) yield { kind: 'output', stream: 'stdout', data } as const;
    })(),
    end: async () => {
      ended = true;
    },
  }));
  const { now } = await scene.make('echo done');
  await scene.idle();
  t.ok(ended);
  const { detail, status } = (await now()).role_setup;
  t.equal(status, 'failed');
  t.match(detail, /printed more than 16 MiB$/);
  t.ok(detail.length < 4_100);
});

t.test('only a few are installed at once; the others wait for their turn', async (t) => {
  const scene = await aboard();
  await scene.script('sleep 60');
  const call = scene.root;
  const made = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => call('POST', '/api/containers', { name, role: 'test', ...small })),
  );
  await begun(scene, 3);
  await scene.service.roleSetups.keep();
  t.equal(scene.calls.length, 3);
  t.ok(made.every((answer) => answer.json().role_setup.status === 'installing'));
  const first = made.find((answer) => scene.calls.includes(answer.json().id));
  await call('POST', `/api/containers/${first?.json().db_id}/role-setup/cancel`);
  await begun(scene, 4);
  t.equal(new Set(scene.calls).size, 4);
  await scene.service.roleSetups.close();
});
