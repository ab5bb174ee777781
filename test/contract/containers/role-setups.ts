import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Role } from '../../../src/domain/containers/catalogue.ts';
import { NO_ROLE_SETUP, type RoleSetup, WAITS } from '../../../src/domain/containers/role-setup.ts';
import type { ContainerRuntime } from '../../../src/ports/containers/container-runtime.ts';
import type { RoleInstaller } from '../../../src/ports/containers/inside/container-commands.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';
import { aSpec } from '../../support/engine/container.ts';
import { collect } from './inside/container-commands.ts';

const LEASE_SECONDS = 60;
const begun = (): RoleSetup => ({ status: 'installing', id: randomUUID(), detail: null });

/** Guarantees of stored role setups. `pass` lets this many seconds pass. */
export async function roleSetupRepositoryContract(
  name: string,
  storage: Storage,
  pass: (seconds: number) => Promise<unknown>,
): Promise<void> {
  const { roleSetups, containers } = storage.repositories;
  /** Makes due ones of one user. */
  const dueOfOne = async () => {
    const { id } = await storedUser(storage);
    return async (setup: RoleSetup = begun()) => {
      const { dbId } = await storedContainer(storage, id, { name: `n${randomUUID()}` });
      return await roleSetups.set(dbId, setup);
    };
  };
  const due = async (setup?: RoleSetup) => await (await dueOfOne())(setup);
  const test = (what: string, work: (t: Test) => Promise<void>) =>
    t.test(`${name}: ${what}`, async (t) => {
      await work(t);
      // Nothing due may remain for the next test.
      for (const { dbId } of await containers.listAllLive()) await roleSetups.set(dbId, NO_ROLE_SETUP);
    });

  await test('a container has none, and then the one that was set', async (t) => {
    const { id } = await storedUser(storage);
    const box = await storedContainer(storage, id);
    t.same(box.roleSetup, NO_ROLE_SETUP);
    const setup = begun();
    const set = await roleSetups.set(box.dbId, setup);
    t.same(set, { ...box, roleSetup: setup });
    t.same(await containers.findAny(box.dbId), set);
    t.same(await storage.inTransaction((tx) => tx.roleSetups.findForUpdate(box.dbId)), set);
    t.equal(await roleSetups.findForUpdate(randomUUID()), null);
    const started = await containers.changeState(box.dbId, ['running'], { state: 'stopped' });
    t.same(started?.roleSetup, setup, 'a change of the state leaves it');
  });

  await test('of several that poll at once, one gets each', async (t) => {
    const boxes = [await due(), await due({ status: 'none', id: randomUUID(), detail: 'waits' })];
    const owners = Array.from({ length: 6 }, () => randomUUID());
    const taken = await Promise.all(owners.map((one) => roleSetups.takeUp(one, LEASE_SECONDS, false, 9)));
    t.same(
      taken
        .flat()
        .map(({ dbId }) => dbId)
        .sort(),
      boxes.map(({ dbId }) => dbId).sort(),
    );
    t.ok(taken.flat().every(({ roleSetup }) => roleSetup.status === 'installing'));
    const again = await roleSetups.takeUp(randomUUID(), LEASE_SECONDS, false, 9);
    t.same(again, [], 'what somebody works on is not taken');
  });

  await test('what is taken up does not say any more that it waits; what it printed stays', async (t) => {
    const printed = { ...begun(), detail: 'Reading package lists' } as const;
    await due({ status: 'none', id: randomUUID(), detail: WAITS });
    await due(printed);
    const taken = await roleSetups.takeUp(randomUUID(), LEASE_SECONDS, false, 9);
    t.same(taken.map(({ roleSetup }) => roleSetup.detail).sort(), [printed.detail, null].sort());
  });

  await test('only so many are taken, and only in containers that run', async (t) => {
    const [stopped] = [await due(), await due(), await due()];
    await containers.changeState(stopped.dbId, ['running'], { state: 'stopped' });
    const me = randomUUID();
    t.equal((await roleSetups.takeUp(me, LEASE_SECONDS, false, 1)).length, 1);
    t.equal((await roleSetups.takeUp(me, LEASE_SECONDS, false, 9)).length, 1);
    await containers.changeState(stopped.dbId, ['stopped'], { state: 'running' });
    t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 9), [{ dbId: stopped.dbId }]);
  });

  await test('of each user one is in progress', async (t) => {
    const ofOwner = await dueOfOne();
    const mine = [await ofOwner(), await ofOwner()];
    const other = await due();
    const take = async (who: string) =>
      (await roleSetups.takeUp(who, LEASE_SECONDS, false, 9)).map(({ dbId }) => dbId).sort();
    const [one, two] = [randomUUID(), randomUUID()];
    const taken = await Promise.all([take(one), take(two)]);
    t.same(taken.flat().sort(), [mine[0]?.dbId ?? '', other.dbId].sort());
    t.same(await take(two), [], 'nor does another process take the second one');
    const { roleSetup } = mine[0] ?? {};
    await roleSetups.record(roleSetup?.id ?? '', one, NO_ROLE_SETUP);
    await roleSetups.record(roleSetup?.id ?? '', two, NO_ROLE_SETUP);
    t.same(await take(two), [mine[1]?.dbId]);
    await roleSetups.set(mine[0]?.dbId ?? '', begun());
    t.same(await take(two), []);
    await containers.changeState(mine[1]?.dbId ?? '', ['running'], { state: 'stopped' });
    t.same(await take(two), [mine[0]?.dbId], 'in a container that is stopped nothing is in progress');
  });

  await test('users take turns, and who tries again comes after those who wait', async (t) => {
    const eager = await due();
    const me = randomUUID();
    t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 1), [{ dbId: eager.dbId }]);
    const patient = await due();
    await roleSetups.set(eager.dbId, begun());
    await pass(1);
    t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 1), [{ dbId: patient.dbId }]);
    await pass(1);
    t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 1), [{ dbId: eager.dbId }]);
    await roleSetups.set(patient.dbId, begun());
    await roleSetups.set(eager.dbId, begun());
    t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 1), [{ dbId: patient.dbId }]);
  });

  await test('the containers of a user take turns, so that one that cannot progress does not block the others', async (t) => {
    const ofOwner = await dueOfOne();
    const boxes = [await ofOwner(), await ofOwner()];
    const me = randomUUID();
    for (const { dbId, roleSetup } of [...boxes, ...boxes]) {
      t.match(await roleSetups.takeUp(me, LEASE_SECONDS, false, 9), [{ dbId }]);
      await roleSetups.release(roleSetup.id ?? '', me);
      await pass(1);
    }
  });

  await test('a lease ends by itself, by its release, and for its own owner at once', async (t) => {
    const { roleSetup } = await due();
    const id = roleSetup.id ?? '';
    const [me, other] = [randomUUID(), randomUUID()];
    const take = async (who: string, own = false) =>
      (await roleSetups.takeUp(who, LEASE_SECONDS, own, 9)).length;
    t.equal(await take(me), 1);
    t.equal(await take(other, true), 0);
    t.equal(await take(me, true), 1, 'what an earlier run of the same replica has left');
    await pass(LEASE_SECONDS * 0.6);
    await roleSetups.renew([id], me, LEASE_SECONDS);
    await roleSetups.renew([randomUUID()], me, LEASE_SECONDS);
    await pass(LEASE_SECONDS * 0.6);
    t.equal(await take(other), 0, 'it was renewed');
    await pass(LEASE_SECONDS);
    t.equal(await take(other), 1, 'it has run out');
    await roleSetups.release(id, me);
    t.equal(await take(me), 0, 'the release of another does nothing');
    await roleSetups.release(id, other);
    t.equal(await take(me), 1);
  });

  await test('only the owner of the present try writes', async (t) => {
    const { dbId, roleSetup } = await due();
    const id = roleSetup.id ?? '';
    const [me, other] = [randomUUID(), randomUUID()];
    const said: RoleSetup = { status: 'installing', id, detail: 'half "way" 🚢\n' };
    t.equal(await roleSetups.record(id, me, said), null, 'before it is taken');
    await roleSetups.takeUp(me, LEASE_SECONDS, false, 9);
    t.match(await roleSetups.record(id, me, said), { dbId, roleSetup: said });
    t.equal(await roleSetups.record(id, other, said), null);
    const next = begun();
    await roleSetups.set(dbId, next);
    t.equal(await roleSetups.record(id, me, said), null, 'another try has begun');
    t.equal(await roleSetups.record(next.id ?? '', me, said), null, 'and is nobody’s yet');
    t.same((await containers.findAny(dbId))?.roleSetup, next);
  });

  await test('what has ended is taken by nobody', async (t) => {
    const { roleSetup } = await due();
    const id = roleSetup.id ?? '';
    const me = randomUUID();
    await roleSetups.takeUp(me, LEASE_SECONDS, false, 9);
    const ready: RoleSetup = { status: 'ready', id: null, detail: 'done' };
    t.match(await roleSetups.record(id, me, ready), { roleSetup: ready });
    t.equal(await roleSetups.record(id, me, ready), null);
    await pass(LEASE_SECONDS * 2);
    t.same(await roleSetups.takeUp(me, LEASE_SECONDS, true, 9), []);
  });
}

export type OpenInstaller = {
  readonly runtime: ContainerRuntime;
  readonly installer: RoleInstaller;
  readonly image: string;
};

export const scripted = (script: string): Role => ({ key: 'test', label: 'Test', packages: {}, script });

/** Guarantees of a role installer. */
export async function roleInstallerContract(
  name: string,
  { runtime, installer, image }: OpenInstaller,
): Promise<void> {
  await t.test(`${name}: RoleInstaller`, async (t) => {
    const handle = await runtime.create(aSpec(image));
    const install = async (script: string) => await installer.install(handle, scripted(script));
    /** A running installer and its end. */
    const begun = async () => {
      const running = await install('echo begun\nsleep 3600\necho never');
      const printed = Promise.withResolvers<void>();
      const left = collect(running, printed.resolve);
      await printed.promise;
      return { running, left };
    };
    await t.rejects(
      install('exit 0'),
      { name: 'ContainerNotRunning', isGone: false },
      'a stopped one refuses',
    );
    await runtime.start(handle);

    await t.test("an installer's output and exit code arrive", async (t) => {
      t.match(await collect(await install('echo one\necho two')), { stdout: /one\ntwo\n/, exitCode: 0 });
      t.match(await collect(await install('echo one\nexit 3\necho two')), { stdout: 'one\n', exitCode: 3 });
      const empty = await installer.install(handle, { ...scripted(''), script: null });
      t.match(await collect(empty), { exitCode: 0 });
    });

    await t.test('an ended installer stops soon', async (t) => {
      const { running, left } = await begun();
      await running.end();
      t.not((await left).exitCode, 0);
    });

    await t.test("an installer ends an earlier one's programs", async (t) => {
      const { left } = await begun();
      t.match(await collect(await install('echo second')), { stdout: 'second\n', exitCode: 0 });
      const ended = await left;
      t.not(ended.exitCode, 0);
      t.notMatch(ended.stdout, /never/);
    });

    await t.test('an installer ends with its container', async (t) => {
      const { left } = await begun();
      await runtime.stop(handle, 1);
      t.not((await left).exitCode, 0);
    });

    await runtime.remove(handle);
    await t.rejects(
      install('exit 0'),
      { name: 'ContainerNotRunning', isGone: true },
      'as does one that is gone',
    );
  });
}
