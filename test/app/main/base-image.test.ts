import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BASE_LABEL, BASE_VERSION } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import { TOOLS_COMPLETE } from '../../../src/adapters/scripts/terminals/tmux/tmux-volume-scripts.ts';
import { prepareBaseImage } from '../../../src/app/main/engine/base-image.ts';
import type { PartState } from '../../../src/domain/service/health.ts';
import { dockerOf } from '../../support/engine/printing-engine.ts';
import { inPlaceOfMmdebstrap } from '../../support/engine/stub-build.ts';
import { silentLog } from '../../support/samples/samples.ts';

const OTHER_TOOLS = 'berth-tools-older';

type Scripted = {
  /** Per inspection of the image; the last one stays. null: the engine fails. */
  readonly versions: (string | null)[];
  readonly onRemove?: (volume: string) => void;
  readonly onLastVersion?: (ending: AbortController) => void;
};

/** An engine that has the image and full tools volumes, and imports nothing. */
async function anEngine(t: Test, { versions, onRemove, onLastVersion }: Scripted, ending: AbortController) {
  const volume = await mkdtemp(join(tmpdir(), 'berth-tools-'));
  t.teardown(() => rm(volume, { recursive: true }));
  await writeFile(join(volume, TOOLS_COMPLETE), '');
  const version = () => (versions.length > 1 ? versions.shift() : versions[0]) ?? null;
  const server = createServer((request, response) => {
    request.resume();
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const path = (request.url ?? '').replace(/^\/v[\d.]+/, '');
    const at = `${request.method} ${path}`;
    if (path.startsWith('/images/create')) return answer(500, { message: 'imports nothing' });
    if (/^GET \/images\/.*json/.test(at)) {
      if (versions.length === 1) onLastVersion?.(ending);
      const now = version();
      if (now === null) return answer(500, { message: 'disk on fire' });
      return answer(200, { Id: `sha256:${now}`, Config: { Labels: { [BASE_LABEL]: now } } });
    }
    if (at.startsWith('GET /containers/json')) return answer(200, []);
    if (at.startsWith('GET /volumes/')) return answer(200, { Mountpoint: volume });
    if (at.startsWith('GET /volumes')) return answer(200, { Volumes: [{ Name: OTHER_TOOLS }] });
    if (!at.startsWith('DELETE /volumes/')) return answer(200, {});
    onRemove?.(path.slice('/volumes/'.length));
    return response.writeHead(204).end();
  });
  return await dockerOf(t, server);
}

async function aPreparation(t: Test, scripted: Scripted) {
  await inPlaceOfMmdebstrap(t, '#!/bin/sh\necho "E: out of luck" >&2\nexit 25\n');
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const states: PartState[] = [];
  const parts = {
    get image(): PartState {
      return states.at(-1) ?? { status: 'down', detail: 'is being prepared' };
    },
    set image(state) {
      states.push(state);
    },
  };
  const calls: string[] = [];
  const onRemove = (volume: string) => calls.push(`remove ${volume}`);
  const docker = await anEngine(t, { ...scripted, onRemove }, ending);
  const prepared = await prepareBaseImage({
    source: { docker, reference: 'berth/test:1', network: 'test', instanceId: 'one', mayInstall: false },
    parts,
    log: silentLog,
    signal: ending.signal,
    firstRetryMs: 1,
    onImage: () => calls.push('image'),
    onTools: () => calls.push('tools'),
  });
  return { ...prepared, states, calls };
}

const OLDER = Array.from({ length: 5 }, () => 'older');
const isKept = ({ status, detail }: PartState) => status === 'ready' && /could not be built/.test(detail);

t.test('a failed build of a new base image is shown, and repeated', async (t) => {
  const { background, states } = await aPreparation(t, { versions: [...OLDER, BASE_VERSION] });
  await background;
  t.match(states[0], { status: 'ready', detail: /until the new one is built/ });
  t.ok(states.filter(isKept).length >= 2, JSON.stringify(states));
  t.same(states.at(-1), { status: 'ready', detail: 'present' }, 'another process has built it');
});

t.test('an older image is used as well when its first inspection fails', async (t) => {
  const { background, states, calls } = await aPreparation(t, {
    versions: [null, null, ...OLDER, BASE_VERSION],
  });
  t.match(states, [{ status: 'degraded' }]);
  await background;
  t.equal(calls[0], 'image');
  t.ok(states.some(isKept), JSON.stringify(states));
  t.same(states.at(-1), { status: 'ready', detail: 'present' });
});

t.test('an image that comes after the engine was left is not used', async (t) => {
  const { background, calls } = await aPreparation(t, {
    versions: [null, null, BASE_VERSION],
    onLastVersion: (ending) => ending.abort(),
  });
  await background;
  t.same(calls, []);
});

t.test('new containers get the new tools before the others are removed', async (t) => {
  const { background, calls } = await aPreparation(t, { versions: [BASE_VERSION] });
  await background;
  t.same(calls, ['image', 'tools', `remove ${OTHER_TOOLS}`]);
});
