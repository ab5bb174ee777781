import { randomBytes } from 'node:crypto';
import t from 'tap';
import { AGENT_NODE } from '../../../src/domain/containers/agents/agent.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { hashOf, storedContainer, storedUser } from '../../support/database/stored.ts';

/** Guarantees of the installation's row. Needs a storage without users. */
export async function installationRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { installation } = storage.repositories;

  await t.test(`${name}: the set-up code works once, also under concurrency`, async (t) => {
    t.match(await installation.id(), /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    t.equal(await installation.id(), await installation.id());
    t.same([await installation.swarmId(), await installation.hasLeftSwarms()], [null, false]);
    const recorded = await Promise.all(['one', 'two'].map((id) => installation.recordSwarm(id)));
    t.same(recorded, Array(2).fill(await installation.swarmId()), 'the first of two first starts');
    await installation.changeSwarm('three');
    t.equal(await installation.recordSwarm('four'), 'three');
    t.same([await installation.swarmId(), await installation.hasLeftSwarms()], ['three', false]);
    await installation.changeSwarm(null);
    t.same([await installation.swarmId(), await installation.hasLeftSwarms()], [null, true]);
    t.equal(await installation.recordSwarm('five'), null, 'a start records none');
    await installation.changeSwarm('six');
    t.same([await installation.swarmId(), await installation.hasLeftSwarms()], ['six', false]);
    await installation.changeSwarm(null);
    t.equal(await installation.setupRequired(), true);
    t.equal(await installation.spendSetupCode(hashOf('none yet')), false);
    const [first, second] = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')];
    await installation.setSetupCodeHash(hashOf(first));
    await installation.setSetupCodeHash(hashOf(second));
    const known = async (code: string): Promise<boolean> => await installation.isSetupCode(hashOf(code));
    t.same([await known(first), await known(second)], [false, true]);
    t.equal(await known(second), true, 'asking does not use it up');
    t.equal(await installation.spendSetupCode(hashOf(first)), false, 'the newer one has replaced it');
    const spent = await Promise.all(
      Array.from({ length: 6 }, () => installation.spendSetupCode(hashOf(second))),
    );
    t.equal(spent.filter(Boolean).length, 1);
    t.equal(await installation.spendSetupCode(hashOf(second)), false);
    t.equal(await known(second), false);
  });

  await t.test(`${name}: an installation has containers until they are deleted`, async (t) => {
    const { containers } = storage.repositories;
    const { id } = await storedUser(storage);
    await storedContainer(storage, id, { node: AGENT_NODE });
    t.equal(await installation.hasContainers(), false, 'a joined machine is none');
    const { dbId } = await storedContainer(storage, id);
    t.equal(await installation.hasContainers(), true);
    await containers.changeState(dbId, ['running'], { state: 'deleted' });
    t.equal(await installation.hasContainers(), false);
  });

  await t.test(`${name}: with an administrator there is no set-up`, async (t) => {
    await storedUser(storage);
    t.equal(await installation.setupRequired(), true, 'a plain user is none');
    await storedUser(storage, { role: 'admin' });
    t.equal(await installation.setupRequired(), false);
    await installation.setSetupCodeHash(hashOf('late'));
    t.equal(await installation.spendSetupCode(hashOf('late')), false);
  });
}
