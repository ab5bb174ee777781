import { mock } from 'node:test';
import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import { ok } from '../../../../src/domain/result.ts';
import type { FileSearch } from '../../../../src/ports/containers/inside/file-search.ts';
import { waitFor } from '../../../support/patience.ts';
import { aBoxOfAda } from '../../../support/service/cluster.ts';
import { refusesByField } from '../../../support/service/refusals.ts';
import { aPerson, as } from '../../../support/service/service.ts';
import { aSocket } from '../../../support/service/sockets.ts';
import { listening } from '../../../support/terminal/terminals.ts';

t.test('lines are found by pattern, name and folder, within a number', async (t) => {
  const { put, call, url } = await aBoxOfAda();
  await put('src/a.ts', 'one\nTODO two\n');
  await put('src/b.txt', 'TODO three\n');
  const search = async (body: object) => (await call('POST', `${url}/files/search`, body)).json();
  t.same(await search({ path: 'src', pattern: 'TODO', include: '*.ts' }), {
    matches: [{ path: '/workspace/src/a.ts', line: 2, column: 1, text: 'TODO two' }],
    complete: true,
  });
  t.match(await search({ pattern: 'T.DO', regex: true }), { matches: { length: 2 }, complete: true });
  t.match(await search({ pattern: 'todo', ignore_case: true }), { matches: { length: 2 } });
  t.match(await search({ pattern: 'TODO', max: 1 }), { matches: { length: 1 }, complete: false });
  t.same(await search({ pattern: 'absent' }), { matches: [], complete: true });
});

t.test('bad searches are refused by field, and foreign containers are unknown', async (t) => {
  const { service, call, url } = await aBoxOfAda();
  await refusesByField<object>(t, (body) => call('POST', `${url}/files/search`, body), [
    [{}, 'pattern'],
    [{ pattern: '' }, 'pattern'],
    [{ pattern: 'a\nb' }, 'pattern'],
    [{ pattern: 'a\u0000b' }, 'pattern'],
    [{ pattern: '(', regex: true }, 'pattern'],
    [{ pattern: 'é'.repeat(600) }, 'pattern'],
    [{ pattern: 'x', include: '\n' }, 'include'],
    [{ pattern: 'x', max: 10_001 }, 'max'],
    [{ pattern: 'x', path: '../etc' }, 'path'],
  ]);
  t.equal((await call('POST', `${url}/files/search`, { pattern: 'x', path: 'absent' })).statusCode, 404);
  const eve = as(service, await aPerson(service, 'eve'));
  t.equal((await eve('POST', `${url}/files/search`, { pattern: 'x' })).json().code, 'container_not_found');
});

/** Searches that never end by themselves; `ended` counts those that the service ended. */
function endless() {
  const runtime = memoryRuntime();
  let ended = 0;
  const fileSearch: FileSearch = {
    ...memoryAccess(runtime).fileSearch,
    async search(_handle, path) {
      const over = Promise.withResolvers<void>();
      const items = (async function* () {
        yield { path: [...path, 'a'], line: 1, column: 1, text: 'x' };
        await over.promise;
      })();
      const end = async () => {
        ended += 1;
        over.resolve();
      };
      return ok({ items, end });
    },
  };
  return { runtime, fileSearch, ended: () => ended };
}

t.test('a search that would never end is cut after 20 s, and its program ended', async (t) => {
  const { runtime, fileSearch, ended } = endless();
  const { call, url } = await aBoxOfAda({ runtime, fileSearch });
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const searching = call('POST', `${url}/files/search`, { pattern: 'x' });
  let isOver = false;
  void searching.then(() => {
    isOver = true;
  });
  while (!isOver) {
    mock.timers.tick(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match((await searching).json(), { matches: { length: 1 }, complete: false });
  t.ok(ended() > 0);
});

/** A socket that watches, and what came over it. */
async function aWatch(address: string, url: string, token: string, query: string) {
  const line = aSocket(`${address}${url}/files/watch?${query}`, 'berth.files.v1', token);
  const messages: { type: string; events?: { type: string; path: string }[] }[] = [];
  line.socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  await waitFor(() => line.end() !== null || messages.length > 0, { what: 'the watch begins' });
  const events = () => messages.flatMap((one) => one.events ?? []);
  return { ...line, messages, events };
}

t.test('a watch sends changes until its container or its right ends', async (t) => {
  const { service, ada, put, call, url } = await aBoxOfAda();
  const address = await listening(t, service);
  await put('src/old', '1');
  const watch = await aWatch(address, url, ada.token, 'path=src&recursive=true');
  t.same(watch.messages, [{ type: 'events', events: [] }], 'it has begun');
  await put('src/deep/new', '1');
  await put('src/old', '2');
  await waitFor(() => watch.events().some(({ type }) => type === 'changed'), { what: 'the change' });
  t.ok(watch.events().some((one) => one.type === 'created' && one.path === '/workspace/src/deep/new'));
  t.equal((await aWatch(address, url, ada.token, 'path=absent')).end(), 404);
  t.equal((await aWatch(address, url, ada.token, 'path=../x')).end(), 400);
  const eve = await aPerson(service, 'eve');
  t.equal((await aWatch(address, url, eve.token, '')).end(), 404);
  const other = (await call('POST', '/api/tokens', { name: 'x', scopes: ['read'] })).json();
  const byToken = await aWatch(address, url, other.token, '');
  await call('POST', `/api/tokens/${other.id}/revoke`);
  t.same(await byToken.closed(), [4001, 'unauthorized']);
  watch.socket.close();
});

t.test('a folder with too many entries is not watched, and says so', async (t) => {
  const runtime = memoryRuntime();
  const fileSearch = memoryAccess(runtime).fileSearch;
  let maxAsked = 0;
  const crowded: FileSearch = {
    ...fileSearch,
    watch: async (_handle, _path, { maxEntries }) => {
      maxAsked = maxEntries;
      return ok({
        items: (async function* () {
          yield { kind: 'too_many' } as const;
        })(),
        end: async () => {},
      });
    },
  };
  const { service, ada, url } = await aBoxOfAda({ runtime, fileSearch: crowded });
  const watch = await aWatch(await listening(t, service), url, ada.token, '');
  const end = await watch.closed();
  t.same([maxAsked, watch.messages, end], [50_000, [{ type: 'overflow' }], [1000, 'ended']]);
});
