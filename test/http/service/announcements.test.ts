import t from 'tap';
import { MAX_ANNOUNCEMENTS } from '../../../src/domain/service/announcement.ts';
import { refusesByField } from '../../support/service/refusals.ts';
import { aGuest, anAdmin, aPerson, aService, as, auditOf, outcome } from '../../support/service/service.ts';
import { eventClient } from '../../support/service/streams.ts';
import { aContainerOf, listening } from '../../support/terminal/terminals.ts';

const ALL = '/api/admin/announcements';
const HOUR_MS = 3_600_000;

async function aScene() {
  const service = await aService();
  const root = await anAdmin(service);
  const guest = await aGuest(service);
  const admin = as(service, root);
  const seen = async () =>
    (await as(service, guest)('GET', '/api/announcements')).json().announcements.map(textOf);
  const later = (hours: number): string =>
    new Date(service.clock.now().getTime() + hours * HOUR_MS).toISOString();
  return { service, root, guest, admin, seen, later };
}

const textOf = ({ text }: { text: string }): string => text;

t.test('everybody sees an announcement from its start to its end', async (t) => {
  const { service, admin, seen, later } = await aScene();
  const made = await admin('POST', ALL, { text: '  Now  ' });
  t.equal(made.statusCode, 201);
  t.match(made.json(), { text: 'Now', severity: 'info', ends_at: null, state: 'current' });
  const next = { text: 'Soon', severity: 'warning', starts_at: later(1), ends_at: later(2) };
  t.match((await admin('POST', ALL, next)).json(), { ...next, state: 'scheduled' });
  t.same(await seen(), ['Now']);
  service.clock.advance(HOUR_MS);
  t.same(await seen(), ['Soon', 'Now']);
  service.clock.advance(HOUR_MS);
  t.same(await seen(), ['Now']);
  const states = (await admin('GET', ALL)).json().announcements.map(({ state }: { state: string }) => state);
  t.same(states, ['ended', 'current']);
});

t.test('a change is seen as new, and one that changes nothing is not', async (t) => {
  const { service, admin, seen, later } = await aScene();
  const { id, updated_at } = (await admin('POST', ALL, { text: 'Tonight' })).json();
  service.clock.advance(1_000);
  const same = await admin('PATCH', `${ALL}/${id}`, { text: ' Tonight ' });
  t.equal(same.json().updated_at, updated_at);
  t.equal(auditOf(service, 'announcement_updated').length, 0);
  const ended = await admin('PATCH', `${ALL}/${id}`, { ends_at: later(1) });
  t.not(ended.json().updated_at, updated_at);
  t.equal((await admin('PATCH', `${ALL}/${id}`, { ends_at: null })).json().ends_at, null);
  t.same((await admin('DELETE', `${ALL}/${id}`)).json(), { id, deleted: true });
  t.same(await seen(), []);
  for (const method of ['PATCH', 'DELETE'] as const) {
    const gone = await admin(method, `${ALL}/${id}`, method === 'PATCH' ? {} : undefined);
    t.same([gone.statusCode, gone.json().code], [404, 'announcement_not_found']);
  }
});

t.test('bad input names the field and changes nothing', async (t) => {
  const { admin, seen, later } = await aScene();
  await refusesByField<object>(t, (body) => admin('POST', ALL, body), [
    [{}, 'text'],
    [{ text: ' ' }, 'text'],
    [{ text: 'a\nb' }, 'text'],
    [{ text: 'x', severity: 'alarm' }, 'severity'],
    [{ text: 'x', starts_at: 'tomorrow' }, 'starts_at'],
    [{ text: 'x', ends_at: later(-1) }, 'ends_at'],
    [{ text: 'x', html: true }, 'html'],
  ]);
  t.same(await seen(), []);
  for (let n = 0; n < MAX_ANNOUNCEMENTS; n += 1) await admin('POST', ALL, { text: `${n}` });
  t.same(outcome(await admin('POST', ALL, { text: 'more' })), [409, 'announcement_limit_reached']);
});

t.test('nobody reads the text of an announcement in an event before its start', async (t) => {
  const { service, guest, admin, later } = await aScene();
  const client = await eventClient(await listening(t, service), guest.token);
  const { id } = (await admin('POST', ALL, { text: 'Secret', starts_at: later(1) })).json();
  await admin('PATCH', `${ALL}/${id}`, { text: 'Secret again' });
  await admin('PATCH', `${ALL}/${id}`, { text: 'Now', starts_at: later(0) });
  await admin('PATCH', `${ALL}/${id}`, { text: 'Secret once more', starts_at: later(1) });
  await admin('DELETE', `${ALL}/${id}`);
  await client.until(() => client.messages.length >= 5);
  const received = client.messages.map(({ data }) => data);
  t.same(received, [
    { id, status: 'created' },
    { id, status: 'updated' },
    { id, name: 'Now', status: 'updated', severity: 'info' },
    { id, status: 'updated' },
    { id, status: 'deleted' },
  ]);
});

t.test('every open page learns of a change at once, but no token for one container', async (t) => {
  const { service, guest, admin } = await aScene();
  const ada = await aPerson(service, 'ada');
  const narrow = { name: 'narrow', scopes: ['read'], containers: [await aContainerOf(service, ada)] };
  const token = (await as(service, ada)('POST', '/api/tokens/derive', narrow)).json();
  const address = await listening(t, service);
  const clients = await Promise.all([guest, ada, token].map((who) => eventClient(address, who.token)));
  const { id } = (await admin('POST', ALL, { text: 'Tonight', severity: 'warning' })).json();
  await admin('DELETE', `${ALL}/${id}`);
  const [ofGuest, ofAda, ofToken] = clients;
  for (const client of [ofGuest, ofAda]) {
    await client?.until(() => client.messages.length >= 2);
    t.match(client?.messages, [
      { type: 'announcement_changed', data: { id, name: 'Tonight', status: 'created', severity: 'warning' } },
      { type: 'announcement_changed', data: { id, status: 'deleted' } },
    ]);
  }
  t.same(ofToken?.messages, []);
});
