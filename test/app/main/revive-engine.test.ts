import t from 'tap';
import type { Engine, RunningEngine } from '../../../src/adapters/docker/private-engine/open-engine.ts';
import { revive } from '../../../src/app/main/engine/container-engine.ts';

type Broken = { readonly view?: boolean; readonly engine?: boolean };

/** A private engine that records what is done to it. */
function anEngine(kind: RunningEngine['kind'], broken: Broken): { engine: Engine; done: string[] } {
  const done: string[] = [];
  const act = (name: keyof Broken) => async (): Promise<void> => {
    done.push(name);
    if (broken[name] === true) throw new Error(`no ${name}`);
  };
  const parts: Pick<RunningEngine, 'kind' | 'revive'> & { view: { supervise(): Promise<void> } } = {
    kind,
    revive: act('engine'),
    view: { supervise: act('view') },
  };
  return { engine: parts as RunningEngine, done };
}

const answers = async (): Promise<void> => {};
const isDead = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));

t.test('a private engine and its view are restored independently', async (t) => {
  const cases = [
    { ping: isDead, broken: {}, done: ['engine', 'view'], fault: null },
    { ping: isDead, broken: { view: true }, done: ['engine', 'view'], fault: /no view/ },
    { ping: isDead, broken: { engine: true }, done: ['engine', 'view'], fault: /no engine/ },
    { ping: answers, broken: {}, done: ['view'], fault: null },
  ] as const;
  for (const { ping, broken, done, fault } of cases) {
    const given = anEngine('private', broken);
    const result = await revive(given.engine, ping).catch(String);
    t.same(given.done, done);
    if (fault === null) t.equal(result, undefined);
    else t.match(result, fault);
  }
  const external = anEngine('external', {});
  await revive(external.engine, isDead);
  t.same(external.done, [], 'an external one is left alone');
});
