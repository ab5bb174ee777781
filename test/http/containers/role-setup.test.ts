import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { RuntimeFailure, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import type { RoleInstaller } from '../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../support/patience.ts';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  auditOf,
  outcome,
  small,
  stateOf,
} from '../../support/service/service.ts';
import { standingTime } from '../../support/time.ts';

/** A service with a counted installer that can be replaced once; `make` makes a container with that script. */
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
  const idle = () => service.roleSetups.idle();
  const begun = (count: number) => waitFor(() => calls.length >= count);
  const make = async (text: string) => {
    await script(text);
    const box = (await call('POST', '/api/containers', { name: 'dev', role: 'test', ...small })).json();
    const path = `/api/containers/${box.db_id}`;
    const now = async () => (await call('GET', path)).json();
    return {
      box,
      now,
      /** Its state when nothing is in progress. */
      settled: async () => {
        await idle();
        return (await now()).role_setup;
      },
      post: (action: string, body?: object) => call('POST', `${path}/${action}`, body),
      patch: (over: object) => call('PATCH', path, { name: 'dev', ...small, ...over }),
      remove: () => call('DELETE', path),
    };
  };
  return { service, runtime, call, root, calls, next, script, make, idle, begun };
}

t.test('a container of the default role installs nothing', async (t) => {
  const scene = await aboard();
  const box = (await scene.call('POST', '/api/containers', { name: 'dev', ...small })).json();
  t.match(box, { role: 'standard', status: 'running', role_setup: { status: 'none', detail: null } });
  await scene.idle();
  t.same(scene.calls, []);
  const retry = await scene.call('POST', `/api/containers/${box.db_id}/role-setup/retry`);
  t.same([retry.statusCode, retry.json().code], [409, 'role_setup_not_needed']);
});

t.test('tools are installed in the background after the creation, and an event says so', async (t) => {
  const { service, make } = await aboard();
  const { box, settled } = await make('echo \u001b[32mfirst\u001b[0m\necho second');
  t.match(box, { status: 'running', role_setup: { status: 'installing' } });
  t.match(await settled(), { status: 'ready', detail: 'first\nsecond' });
  const { events } = stateOf(service);
  const { db_id, id } = box;
  const role_setup = { status: 'ready', detail: 'second' };
  const progress = events.filter(({ type }) => type === 'container_progress').at(-1);
  t.match(progress?.data, { db_id, id, name: 'dev', status: 'running', role_setup });
});

t.test('a failure leaves the container usable, and can be retried', async (t) => {
  const { service, make, script, calls, idle } = await aboard();
  const { now, post, settled } = await make('echo no such package\nexit 100');
  t.match(await settled(), { status: 'failed', detail: 'no such package\nexited with code 100' });
  t.match(await now(), { status: 'running', status_reason: null });
  t.equal((await post('exec', { command: ['echo', 'usable'] })).json().stdout, 'usable\n');
  await script('echo better');
  const retried = await post('role-setup/retry');
  t.match([retried.statusCode, retried.json().role_setup], [200, { status: 'installing', detail: null }]);
  t.match(await settled(), { status: 'ready', detail: 'better' });
  t.equal(auditOf(service, 'role_setup_retried').length, 1);
  t.equal((await post('role-setup/retry')).statusCode, 200, 'what is ready can be brought up to date');
  await idle();
  t.equal(calls.length, 3);
});

t.test('an installation can be cancelled, and a retry does not start it twice', async (t) => {
  const { service, make, begun, calls, idle } = await aboard();
  const { now, post } = await make('echo begun\nsleep 60');
  await begun(1);
  t.equal((await post('role-setup/retry')).json().role_setup.status, 'installing');
  t.equal(calls.length, 1);
  const cancelled = await post('role-setup/cancel');
  const failed = { status: 'failed', detail: /cancelled$/ };
  t.match([cancelled.statusCode, cancelled.json().role_setup], [200, failed]);
  await idle();
  t.match(await now(), { status: 'running', role_setup: { status: 'failed' } });
  t.same(outcome(await post('role-setup/cancel')), [409, 'role_setup_not_active']);
  t.equal(auditOf(service, 'role_setup_retried').length, 0, 'nothing was begun anew');
});

/** An installation that runs until it is ended; `started` delays its start. */
function endless(started: Promise<void>) {
  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  const install: RoleInstaller['install'] = async () => {
    await started;
    return {
      events: (async function* () {
        await ended.promise;
        yield { kind: 'exit', exitCode: 137 } as const;
      })(),
      end: async () => {
        isEnded = true;
        ended.resolve();
      },
    };
  };
  return { install, isEnded: () => isEnded };
}

t.test('a cancel ends the installer at once, even one that is starting', async (t) => {
  for (const isStarted of [true, false]) {
    const started = Promise.withResolvers<void>();
    if (isStarted) started.resolve();
    const one = endless(started.promise);
    const { next, make, begun, idle } = await aboard();
    next.push(one.install);
    const { post } = await make('sleep 60');
    await begun(1);
    await turn();
    t.equal((await post('role-setup/cancel')).statusCode, 200);
    started.resolve();
    await turn();
    t.ok(one.isEnded(), isStarted ? 'under way' : 'at its start');
    await idle();
  }
});

t.test('an installation of this process is not started again, whatever its lease', async (t) => {
  const { service, make, begun, calls } = await aboard();
  const { post } = await make('sleep 60');
  await begun(1);
  service.clock.advance(16_000);
  t.equal((await post('role-setup/retry')).statusCode, 200);
  for (let n = 0; n < 20; n += 1) await turn();
  t.equal(calls.length, 1);
  await service.roleSetups.close();
});

for (const way of ['a stop', 'an end by itself'] as const) {
  t.test(`${way} interrupts, and the next start continues`, async (t) => {
    const { service, runtime, make, begun, script, calls, idle } = await aboard();
    const { box, now, post, settled } = await make('sleep 60');
    await begun(1);
    if (way === 'a stop') t.equal((await post('stop')).statusCode, 200);
    else await runtime.stop({ node: 'memory', runtimeId: box.id }, 0);
    await idle();
    await service.reconcile();
    t.match(await now(), { status: 'stopped', role_setup: { status: 'none', detail: /as soon as/ } });
    t.equal((await post('role-setup/retry')).json().code, 'container_not_running');
    await script('echo done');
    await post('start');
    t.match(await settled(), { status: 'ready', detail: 'done' });
    for (const action of ['stop', 'start']) await post(action);
    await idle();
    t.equal(calls.length, 2, 'what is ready stays ready');
  });
}

for (const [what, over, times] of [
  ['another disk', { disk_mb: 1024 }, 2],
  ['more memory', { memory_mb: 512 }, 2],
  ['another name', { name: 'other' }, 1],
] as const) {
  t.test(`with ${what} tools are installed ${times === 2 ? 'again' : 'no second time'}`, async (t) => {
    const { make, calls, idle } = await aboard();
    const { box, patch, settled } = await make('echo done');
    await idle();
    const answer = await patch(over);
    t.equal(answer.json().container.role_setup.status, times === 2 ? 'installing' : 'ready');
    t.equal((await settled()).status, 'ready');
    t.equal(calls.length, times);
    t.equal(calls.at(-1) === box.id, times === 1, 'in the new container');
  });
}

t.test('a recreate during an installation ends it and begins another', async (t) => {
  const { make, begun, script, calls } = await aboard();
  const { patch, settled } = await make('sleep 60');
  await begun(1);
  await script('echo done');
  t.equal((await patch({ disk_mb: 1024 })).statusCode, 200);
  t.match(await settled(), { status: 'ready', detail: 'done' });
  t.equal(calls.length, 2);
});

t.test('a vanished and recreated container gets its tools again', async (t) => {
  const { make, runtime, idle, calls } = await aboard();
  const { box, post, settled } = await make('echo done');
  await idle();
  await runtime.remove({ node: 'memory', runtimeId: box.id });
  t.match((await post('start')).json(), { recreated: true });
  t.equal((await settled()).status, 'ready');
  t.equal(calls.length, 2);
});

t.test('a delete ends the installation; a restored container gets its tools when it runs', async (t) => {
  const { make, begun, idle, script, calls } = await aboard();
  const { post, remove, settled } = await make('sleep 60');
  await begun(1);
  t.equal((await remove()).statusCode, 200);
  await idle();
  for (const action of ['retry', 'cancel']) t.equal((await post(`role-setup/${action}`)).statusCode, 404);
  t.match((await post('restore')).json(), { status: 'stopped', role_setup: { status: 'none' } });
  await script('echo done');
  await post('start');
  t.equal((await settled()).status, 'ready');
  t.equal(calls.length, 2);
});

t.test('a role lost from the catalogue is a failure that says so', async (t) => {
  const { make, idle, root } = await aboard();
  const { post, remove, settled } = await make('echo done');
  await idle();
  await remove();
  t.equal((await root('DELETE', '/api/admin/roles/test')).statusCode, 200);
  await post('restore');
  await post('start');
  t.match(await settled(), { status: 'failed', detail: /no longer has the role test/ });
});

/** An installer that never progresses: the waiting process might as well be dead. */
const never: RoleInstaller['install'] = () => new Promise(() => {});

t.test("a killed process's installation is taken over after its lease, by one process", async (t) => {
  const { service, next, make, begun, calls } = await aboard();
  next.push(never);
  const { now } = await make('echo done');
  await begun(1);
  const others = [await aService(service.ports), await aService(service.ports)];
  const keepAll = () => Promise.all(others.map(({ roleSetups }) => roleSetups.keep()));
  await keepAll();
  t.equal(calls.length, 1, 'not before');
  service.clock.advance(16_000);
  await keepAll();
  for (const { roleSetups } of others) await roleSetups.idle();
  t.match((await now()).role_setup, { status: 'ready', detail: 'done' });
  t.equal(calls.length, 2, 'once');
});

t.test('a process whose setup was taken over ends its installer', async (t) => {
  const time = standingTime(t);
  const one = endless(Promise.resolve());
  const { service, next, make, begun } = await aboard();
  next.push(one.install);
  await make('sleep 60');
  await begun(1);
  await turn();
  service.clock.advance(16_000);
  const { roleSetups } = service.ports.storage.repositories;
  t.equal((await roleSetups.takeUp('another process', 15, false, 1)).length, 1);
  time.pass(2_000);
  await waitFor(one.isEnded);
});

t.test('a process that lives keeps its lease; one that stops leaves it to the next at once', async (t) => {
  const { service, make, begun, calls, script } = await aboard();
  const { now } = await make('sleep 60');
  await begun(1);
  const other = await aService(service.ports);
  for (let n = 0; n < 4; n += 1) {
    service.clock.advance(10_000);
    await service.roleSetups.keep();
    await other.roleSetups.keep();
  }
  t.equal(calls.length, 1);
  await service.roleSetups.close();
  t.equal((await now()).role_setup.status, 'installing', 'it is not over');
  await script('echo done');
  await other.roleSetups.keep();
  await other.roleSetups.idle();
  t.equal((await now()).role_setup.status, 'ready');
});

t.test('a silent engine is no failure of the tools', async (t) => {
  const { service, next, make, begun, idle } = await aboard();
  next.push(() => Promise.reject(new RuntimeUnavailable('no answer')));
  const { settled } = await make('echo done');
  await begun(1);
  t.equal((await settled()).status, 'installing');
  service.clock.advance(16_000);
  await service.roleSetups.keep();
  await idle();
  t.equal((await settled()).status, 'ready');
});

t.test('a container on a silent engine does not block the other one of its user', async (t) => {
  const { service, call, next, make, begun, calls, idle } = await aboard();
  const silent = () => Promise.reject(new RuntimeUnavailable('no answer'));
  next.push(silent);
  const { now } = await make('echo done');
  await begun(1);
  await idle();
  t.equal(calls.length, 1, 'a silent engine is not asked again at once');
  service.clock.advance(1_000);
  const other = (await call('POST', '/api/containers', { name: 'other', role: 'test', ...small })).json();
  await idle();
  t.equal((await call('GET', `/api/containers/${other.db_id}`)).json().role_setup.status, 'ready');
  await idle();
  t.equal((await now()).role_setup.status, 'ready', 'nor is it forgotten');
});

t.test("the engine's messages are not shown to users", async (t) => {
  const { next, make } = await aboard();
  next.push(() => Promise.reject(new RuntimeFailure('open /var/lib/docker/secret: no space')));
  const { settled } = await make('echo done');
  t.same(await settled(), { status: 'failed', detail: 'the engine could not run the installer' });
});

t.test('an installer with endless output is ended', async (t) => {
  const { next, make } = await aboard();
  let ended = false;
  const data = Buffer.alloc(1_048_576, 'x\n');
  next.push(async () => ({
    events: (async function* () {
      while (!ended) yield { kind: 'output', stream: 'stdout', data } as const;
    })(),
    end: async () => {
      ended = true;
    },
  }));
  const { settled } = await make('echo done');
  const { detail, status } = await settled();
  t.ok(ended);
  t.equal(status, 'failed');
  t.match(detail, /printed more than 16 MiB$/);
  t.ok(detail.length < 4_100);
});

t.test('only a few are installed at once, one per user; the others wait', async (t) => {
  const { service, script, begun, calls } = await aboard();
  await script('sleep 60');
  const create = async (name: string) => {
    const call = as(service, await aPerson(service, name));
    return { call, answer: await call('POST', '/api/containers', { name, role: 'test', ...small }) };
  };
  const [one, ...others] = [await create('a1'), await create('b1'), await create('c1'), await create('d1')];
  const second = await one.call('POST', '/api/containers', { name: 'second', role: 'test', ...small });
  await begun(3);
  await service.roleSetups.keep();
  t.equal(calls.length, 3);
  t.ok([one, ...others].every(({ answer }) => answer.json().role_setup.status === 'installing'));
  await one.call('POST', `/api/containers/${one.answer.json().db_id}/role-setup/cancel`);
  await begun(4);
  t.equal(
    calls.at(3),
    others.at(-1)?.answer.json().id,
    'who has waited comes before the second one of a user',
  );
  t.notOk(calls.includes(second.json().id));
  await service.roleSetups.close();
});
