import t, { type Test } from 'tap';
import { NOBODY } from '../../support/database/stored.ts';
import { waitFor } from '../../support/patience.ts';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  ORIGIN,
  outcome,
  type Person,
} from '../../support/service/service.ts';
import { type TerminalClient, terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

/** Ada has a running container; Bob and Eve have accounts. */
async function aScene(t: Test, ports: Parameters<typeof aService>[0] = {}) {
  const service = await aService(ports);
  const address = await listening(t, service);
  const [ada, bob, eve] = [
    await aPerson(service, 'ada'),
    await aPerson(service, 'bob'),
    await aPerson(service, 'eve'),
  ];
  const dbId = await aContainerOf(service, ada);
  const open = (who: Person, query: Record<string, string | number> = {}) =>
    terminalClient({ address, dbId, token: who.token }, query);
  const share = async (mode: 'view' | 'control', more: object = {}) =>
    (await as(service, ada)('POST', `/api/containers/${dbId}/collaborations`, { mode, ...more })).json();
  const join = (who: Person, code: string) => as(service, who)('POST', '/api/collaborations/join', { code });
  const shareWith = async (mode: 'view' | 'control', ...guests: Person[]) => {
    const made = await share(mode);
    for (const guest of guests) await join(guest, made.code);
    return made;
  };
  const asAda = as(service, ada);
  const box = `/api/containers/${dbId}`;
  const end = async (id: string, who: Person = ada) =>
    await as(service, who)('DELETE', `/api/collaborations/${id}`);
  const statusOf = async (who: Person): Promise<number> =>
    (await as(service, who)('GET', `/api/containers/${dbId}`)).statusCode;
  const audit = async (action: RegExp) =>
    (await service.ports.storage.repositories.audit.page({}, { limit: 100, after: null })).items
      .filter((record) => action.test(record.action))
      .map(({ userId, action, details }) => ({ userId, action, details }))
      .reverse();
  return { service, ada, asAda, bob, eve, dbId, box, open, share, join, shareWith, end, statusOf, audit };
}

const ENDED = [4003, 'collaboration ended'] as const;

t.test('nothing is shared of a container that is deleted meanwhile', async (t) => {
  const backend = fakeTerminals();
  const { share, asAda, box } = await aScene(t, { terminalBackend: backend });
  backend.hasMultiplexer = async () => {
    await asAda('DELETE', box);
    return true;
  };
  t.match(await share('view'), { code: 'container_not_running' });
});

t.test('a share is a code that is shown once, and opens the container to who brings it', async (t) => {
  const { service, ada, asAda, bob, eve, dbId, box, share, join, end, statusOf } = await aScene(t);
  const made = await share('view', { expires_in_minutes: 5 });
  t.match(made, { id: String, mode: 'view', container_id: dbId, participants: [], ended_at: null });
  t.match(made.code, /^[A-Za-z0-9_-]{43}$/);
  t.equal(made.url, `${ORIGIN}/join#code=${made.code}`);
  t.equal(Date.parse(made.expires_at) - Date.parse(made.created_at), 300_000);
  t.equal(await statusOf(bob), 404);
  const joined = await join(bob, made.code);
  t.equal(joined.statusCode, 200);
  t.match(joined.json(), { id: made.id, mode: 'view', container: { db_id: dbId, name: 'dev' } });
  t.equal((await join(bob, made.code)).statusCode, 200, 'coming again is fine');
  t.equal((await join(ada, made.code)).statusCode, 200, 'the owner needs no part');

  const read = (await asAda('GET', `/api/collaborations/${made.id}`)).json();
  t.same(valuesOf(read.participants, 'username'), ['bob']);
  t.notOk(JSON.stringify(read).includes(made.code));
  const listed = (await asAda('GET', `${box}/collaborations`)).json();
  t.same(listed, { collaborations: [read] });
  t.equal((await end(made.id, eve)).statusCode, 404);

  const [seen] = (await as(service, bob)('GET', '/api/containers')).json().containers;
  t.match(seen, { db_id: dbId, owner: { username: 'ada' }, collaboration: { id: made.id, mode: 'view' } });
  t.notOk('collaboration' in (await asAda('GET', '/api/containers')).json().containers[0]);
  t.same((await as(service, eve)('GET', '/api/containers')).json(), { containers: [], total: 0 });
});

t.test('a participant in control changes nothing else of the container', async (t) => {
  const { service, asAda, bob, eve, box, shareWith } = await aScene(t);
  await shareWith('control', bob);
  const before = (await asAda('GET', box)).json();
  for (const [method, url, payload] of [
    ['PATCH', box, { name: 'mine', memory_mb: 512, cpu_shares: 500, disk_mb: 1024 }],
    ['DELETE', box],
    ['POST', `${box}/stop`],
    ['PUT', `${box}/files?path=x`, Buffer.from('x')],
    ['DELETE', `${box}/files?path=x`],
    ['POST', `${box}/collaborations`, { mode: 'view' }],
    ['POST', `${box}/recordings`, {}],
    ['POST', `${box}/exec`, { command: ['true'] }],
  ] as const) {
    const { statusCode, json } = await as(service, bob)(method, url, payload);
    t.match([statusCode, json()], [403, { code: 'not_authorized' }], `${method} ${url}`);
    t.equal((await as(service, eve)(method, url, payload)).statusCode, 404, `${method} ${url}`);
  }
  t.same((await asAda('GET', box)).json(), before);
});

t.test('an impossible share is refused with a reason', async (t) => {
  const { asAda, box, share } = await aScene(t);
  for (const body of [
    {},
    { mode: 'both' },
    { mode: 'view', expires_in_minutes: 0 },
    { mode: 'view', x: 1 },
  ]) {
    t.equal((await asAda('POST', `${box}/collaborations`, body)).statusCode, 400, JSON.stringify(body));
  }
  for (const expires_in_minutes of [1441, -1])
    t.match(await share('view', { expires_in_minutes }), { fields: { expires_in_minutes: String } });
  for (let count = 0; count < 10; count += 1) t.ok((await share('view')).code);
  t.match(await share('view'), { code: 'collaboration_limit_reached' });
  await asAda('POST', `${box}/stop`);
  t.match(await share('view'), { code: 'container_not_running' });
  const plain = await aScene(t, { terminalBackend: fakeTerminals({ muxed: false }) });
  t.match(await plain.share('view'), { code: 'sharing_needs_tmux', error: /tmux/ });
});

t.test('wrong codes slow the user and the address down', async (t) => {
  const { service, bob, eve, share, join } = await aScene(t);
  const { code } = await share('view');
  const statuses: number[] = [];
  for (let count = 0; count < 6; count += 1) statuses.push((await join(bob, `wrong${count}`)).statusCode);
  t.same(statuses, [404, 404, 404, 404, 404, 429]);
  const limited = await join(bob, code);
  t.equal(limited.statusCode, 429, 'the right one has to wait as well');
  t.ok(Number(limited.headers['retry-after']) > 0);
  t.equal((await join(eve, code)).statusCode, 200, 'others do not');
  service.clock.advance(60_000);
  t.equal((await join(bob, code)).statusCode, 200);
});

t.test('a viewer sees all, and types nothing', async (t) => {
  const { ada, bob, dbId, open, shareWith, audit } = await aScene(t);
  const owner = await open(ada);
  const { id } = await shareWith('view', bob);
  const guest = await open(bob);
  t.match(guest.ready, { owner: false, mode: 'view', mux_session: 'main', connection_id: 'main' });
  t.match(owner.ready, { owner: true, mode: 'control' });
  guest.socket.send(Buffer.from('rm'));
  guest.socket.send(JSON.stringify({ type: 'input_from', offset: 0 }));
  owner.socket.send(Buffer.from('ls'));
  await guest.until(() => guest.output().includes('ls'));
  await owner.until(() => owner.output().includes('ls'));
  t.equal(owner.output().toString(), '$ ls');
  const details = JSON.stringify({ container_id: dbId, collaboration_id: id, mode: 'view' });
  t.match(await audit(/^terminal_opened$/), [
    { userId: ada.id, details: dbId },
    { userId: bob.id, details },
  ]);
  t.match(
    (await audit(/^collaboration_/)).map(({ action, userId }) => [action, userId]),
    [
      ['collaboration_started', ada.id],
      ['collaboration_joined', bob.id],
    ],
  );
});

t.test("a viewer's input is dropped before it reaches the terminal", async (t) => {
  const backend = fakeTerminals();
  const { ada, bob, open, shareWith } = await aScene(t, { terminalBackend: backend });
  await open(ada);
  await shareWith('view', bob);
  for (const viewer of [await open(bob), await open(ada, { mode: 'view' })]) {
    const pty = backend.opened.at(-1);
    viewer.socket.send(Buffer.from('rm'));
    viewer.socket.send(JSON.stringify({ type: 'input_from', offset: 1 }));
    // Frames are handled in order: the pong comes after earlier output.
    viewer.socket.send(JSON.stringify({ type: 'ping', t: 1 }));
    await viewer.until(() => viewer.messages.some(({ type }) => type === 'pong'));
    t.equal(pty?.typed(), '');
    t.equal(
      viewer.socket.readyState,
      viewer.socket.OPEN,
      'an offset that is no offset of its own ends nothing',
    );
  }
});

t.test('a participant who does not answer the close is cut off', async (t) => {
  const { service, bob, open, shareWith, end } = await aScene(t);
  const { id } = await shareWith('control', bob);
  const { socket } = await open(bob);
  socket.pause();
  const [far] = service.http.websocketServer.clients;
  if (far === undefined) return t.fail('nobody is connected');
  // The library would wait for half a minute.
  const cut = t.capture(far, 'terminate', far.terminate.bind(far));
  await end(id);
  await waitFor(() => cut().length > 0);
  socket.terminate();
});

t.test('a participant in control types in the same line, and may only view on request', async (t) => {
  const { ada, bob, open, shareWith } = await aScene(t);
  const owner = await open(ada);
  await shareWith('control', bob);
  const guest = await open(bob);
  t.match(guest.ready, { owner: false, mode: 'control', mux_session: `user-${bob.id}` });
  owner.socket.send(Buffer.from('l'));
  await guest.until(() => guest.output().includes('l'));
  guest.socket.send(Buffer.from('s'));
  await owner.until(() => owner.output().includes('ls'));
  await guest.until(() => guest.output().includes('ls'));
  const modest = await open(bob, { mode: 'view' });
  t.equal(modest.ready['mode'], 'view');
  t.same(await guest.closed(), [1000, 'replaced']);
  modest.socket.send(Buffer.from('X'));
  owner.socket.send(Buffer.from('O'));
  await modest.until(() => modest.output().includes('O'));
  t.notMatch(modest.output().toString(), 'X');
  const back = await open(bob, { stream: modest.ready.stream, after: 0 });
  t.equal(back.ready['mode'], 'control', 'a view-only stream is not resumed for typing');
  t.not(back.ready.stream, modest.ready.stream);
  const ownView = await open(ada, { mode: 'view' });
  t.match(ownView.ready, { owner: true, mode: 'view' });
  await t.rejects(open(bob, { connection_id: 'side' }), 'only the main terminal is shared');
  await t.rejects(open(bob, { new: 'true' }), 'and only its owner starts it afresh');
});

t.test("everybody learns who is present, and the owner's size", async (t) => {
  const { ada, bob, open, share, join, end } = await aScene(t);
  const owner = await open(ada, { cols: 100, rows: 30 });
  const last = (client: TerminalClient, wanted: string) =>
    client.messages.findLast(({ type }) => type === wanted);
  const names = (client: TerminalClient): string | undefined =>
    (last(client, 'participants')?.['participants'] as { username: string }[] | undefined)
      ?.map(({ username }) => username)
      .join();
  const size = (client: TerminalClient) => last(client, 'size');
  const { id, code } = await share('control');
  await owner.until(() => names(owner) === 'ada');
  await join(bob, code);
  const guest = await open(bob, { cols: 40, rows: 10 });
  await owner.until(() => names(owner) === 'ada,bob');
  await guest.until(() => names(guest) === 'ada,bob' && size(guest) !== undefined);
  t.same(size(guest), { type: 'size', cols: 100, rows: 30 });
  owner.socket.send(JSON.stringify({ type: 'resize', cols: 90, rows: 20 }));
  await guest.until(() => size(guest)?.['cols'] === 90);
  guest.socket.send(JSON.stringify({ type: 'resize', cols: 33, rows: 11 }));
  guest.socket.send(Buffer.from('\rsize\r'));
  await guest.until(() => guest.output().includes('90x20'));
  t.equal(size(owner), undefined, 'the owner gets no size');
  guest.socket.close(1000);
  await owner.until(() => names(owner) === 'ada');
  const again = await open(bob, { cols: 33, rows: 11 });
  await again.until(() => size(again)?.['cols'] === 90);
  owner.socket.close(1000);
  await again.until(() => size(again)?.['cols'] === null && names(again) === 'bob');
  again.socket.send(Buffer.from('size\r'));
  await again.until(() => again.output().includes('33x11'));
  const back = await open(ada, { cols: 70, rows: 22 });
  await again.until(() => size(again)?.['cols'] === 70);
  await end(id);
  await back.until(() => names(back) === '');
});

t.test("the end closes the participants' sockets, and the container is unknown to them", async (t) => {
  for (const mode of ['view', 'control'] as const) {
    const backend = fakeTerminals();
    const { service, ada, bob, eve, open, join, shareWith, end, statusOf, audit } = await aScene(t, {
      terminalBackend: backend,
    });
    const owner = await open(ada);
    const { id, code } = await shareWith(mode, bob, eve);
    const guests = [await open(bob), await open(eve)];
    const ended = await end(id);
    t.match(ended.json(), { id, ended_at: String });
    for (const guest of guests) t.same(await guest.closed(), ENDED, mode);
    t.same([await statusOf(bob), await statusOf(eve), await statusOf(ada)], [404, 404, 200]);
    t.equal((await join(bob, code)).statusCode, 404, 'the code opens nothing any more');
    await t.rejects(open(bob));
    t.equal((await as(service, bob)('GET', `/api/collaborations/${id}`)).statusCode, 404);
    const again = await end(id);
    t.same([again.statusCode, again.json().ended_at], [200, ended.json().ended_at]);
    await service.collaborations.keep();
    const sessions = mode === 'control' ? [`user-${bob.id}`, `user-${eve.id}`].sort() : [];
    t.same([...new Set(backend.killed)].sort(), sessions);
    t.equal(owner.socket.readyState, owner.socket.OPEN);
    t.equal((await audit(/^collaboration_ended$/)).length, 1);
  }
});

t.test('an expiry ends a share the same way', async (t) => {
  const { service, ada, bob, open, share, join, statusOf, audit } = await aScene(t);
  await open(ada);
  const { id, code } = await share('control', { expires_in_minutes: 1 });
  await join(bob, code);
  const guest = await open(bob);
  service.clock.advance(59_000);
  await service.writeDue();
  t.equal(await statusOf(bob), 200);
  service.clock.advance(1_000);
  t.equal(await statusOf(bob), 404);
  t.equal((await join(bob, code)).statusCode, 404);
  await service.writeDue();
  t.same(await guest.closed(), ENDED);
  await service.collaborations.keep();
  await service.collaborations.keep();
  const details = { action: 'collaboration_ended', userId: ada.id, details: new RegExp(id) };
  t.match(await audit(/^collaboration_ended$/), [details]);
});

t.test('a participant who left for good rejoins with the code only', async (t) => {
  const { ada, bob, open, join, shareWith, end, statusOf } = await aScene(t);
  const owner = await open(ada);
  const { id, code } = await shareWith('control', bob);
  const guest = await open(bob);
  t.equal((await end(id, bob)).statusCode, 200);
  t.same(await guest.closed(), ENDED);
  t.equal(await statusOf(bob), 404);
  t.equal((await end(id, bob)).statusCode, 404);
  t.equal((await join(bob, code)).statusCode, 200);
  t.equal(await statusOf(bob), 200);
  t.equal(owner.socket.readyState, owner.socket.OPEN);
});

t.test('of several shares the most permissive counts, and the end of one leaves the others', async (t) => {
  const backend = fakeTerminals();
  const { service, bob, eve, open, share, join, end } = await aScene(t, { terminalBackend: backend });
  const [view, control, second] = [await share('view'), await share('control'), await share('control')];
  for (const { code } of [view, control, second]) await join(bob, code);
  await join(eve, control.code);
  const his = await open(bob);
  t.equal(his.ready['mode'], 'control');
  await open(eve);
  await end(control.id);
  await waitFor(() => backend.killed.includes(`user-${eve.id}`), { what: 'who may type no more has none' });
  await service.collaborations.keep();
  t.notOk(backend.killed.includes(`user-${bob.id}`), 'who may type by another share keeps the session');
  await end(second.id);
  t.same(await his.closed(), ENDED);
  t.equal((await open(bob)).ready['mode'], 'view');
  await service.collaborations.keep();
  t.same(new Set(backend.killed), new Set([`user-${eve.id}`, `user-${bob.id}`]));
});

t.test('a container deleted and restored is shared with nobody', async (t) => {
  const { ada, asAda, bob, box, join, shareWith, statusOf, audit } = await aScene(t);
  const { id, code } = await shareWith('view', bob);
  t.equal((await asAda('DELETE', box)).statusCode, 200);
  t.equal((await asAda('POST', `${box}/restore`)).statusCode, 200);
  t.equal((await asAda('POST', `${box}/start`)).statusCode, 200);
  t.equal(await statusOf(bob), 404);
  t.equal((await join(bob, code)).statusCode, 404);
  t.same((await asAda('GET', `${box}/collaborations`)).json(), { collaborations: [] });
  t.match(await audit(/^collaboration_ended$/), [{ userId: ada.id, details: new RegExp(id) }]);
});

t.test("a stop, a delete and a lost account end participants' sockets", async (t) => {
  const { service, asAda, bob, eve, box, open, shareWith } = await aScene(t);
  const root = await anAdmin(service);
  const { id } = await shareWith('control', bob, eve);
  const stopped = await open(bob);
  await asAda('POST', `${box}/stop`);
  t.same(await stopped.closed(), [4009, 'container stopped']);
  await asAda('POST', `${box}/start`);
  const disabled = await open(eve);
  const guest = await open(bob);
  await as(service, root)('PATCH', `/api/admin/users/${eve.id}`, { disabled: true });
  t.same(await disabled.closed(), [4001, 'unauthorized']);
  await asAda('DELETE', box);
  t.same(await guest.closed(), ENDED);
  t.match((await asAda('GET', `/api/collaborations/${id}`)).json(), { ended_at: String });
  for (const none of [NOBODY, 'x'])
    t.equal((await asAda('GET', `/api/collaborations/${none}`)).statusCode, 404);
});

t.test('the owner removes one participant, whom the same code does not readmit', async (t) => {
  const { service, ada, bob, eve, open, share, join, shareWith, statusOf, audit } = await aScene(t);
  const made = await shareWith('control', bob, eve);
  await open(ada);
  const his = await open(bob);
  const putOut = (by: Person, who: string) =>
    as(service, by)('DELETE', `/api/collaborations/${made.id}/participants/${who}`);
  t.equal((await putOut(bob, eve.id)).statusCode, 404);
  t.equal((await putOut(ada, 'nonsense')).statusCode, 404);

  const answer = await putOut(ada, bob.id);
  t.equal(answer.statusCode, 200);
  t.same(valuesOf(answer.json().participants, 'username'), ['eve']);
  t.same(await his.closed(), ENDED);
  t.equal(await statusOf(bob), 404);
  t.same(outcome(await join(bob, made.code)), [404, 'collaboration_not_found']);
  t.equal(await statusOf(eve), 200, 'the others stay');
  t.equal((await putOut(ada, bob.id)).statusCode, 404, 'only once');
  const [record] = await audit(/participant_removed/);
  t.equal(record?.userId, ada.id);
  t.match(JSON.parse(record?.details ?? '{}'), { id: made.id, mode: 'control', participant_id: bob.id });
  const other = await share('view');
  t.equal((await join(bob, other.code)).statusCode, 200, 'another link lets them in');
});
