import t from 'tap';
import { engineOrSkip } from '../support/engine.ts';
import { eventually, partState } from '../support/fault-scene.ts';
import { faultyEngine } from '../support/faulty-engine.ts';
import { aPlace, client, signInAdmin, startService } from '../support/running-service.ts';

t.setTimeout(300_000);

const IMAGE = /\/images\/berth/;
const VOLUMES = /\/volumes\/create/;

t.test('what failed at the start is tried again by itself', async (t) => {
  const engine = await engineOrSkip(t);
  if (engine === null) return;
  const faulty = await faultyEngine(t, engine.endpoint, IMAGE);
  const place = await aPlace(t, { DOCKER_HOST: faulty.endpoint });
  if (place === null) return;
  const toolsMade = (): boolean => faulty.answered.some((call) => call.startsWith('POST /volumes/create'));
  const running = await startService(t, place);
  const call = client(running.address, await signInAdmin(running));
  t.match((await call('GET', '/readyz')).body, {
    status: 'degraded',
    parts: { engine: { status: 'ready' }, image: { status: 'degraded', mend: /keeps retrying/ } },
  });
  faulty.fail(VOLUMES);
  const words = async (): Promise<string> => JSON.stringify((await call('GET', '/readyz')).body['parts']);
  t.match(
    await eventually(words, (parts) => /without tmux/.test(parts)),
    /without tmux/,
    'the image is there',
  );
  t.notOk(toolsMade());
  faulty.fail(null);
  t.equal(await eventually(partState(call, 'image'), (state) => state === 'ready'), 'ready');
  t.match(faulty.failed.join(), /images.*volumes/, 'both failed before');
  t.ok(toolsMade(), 'images without tmux get sessions');
  t.equal(await running.stop(), 0);
});
