import t, { type Test } from 'tap';
import { Berth, type BerthError } from '../../src/client/index.ts';
import { KEYED_OPERATIONS } from '../../src/client/request/api.ts';
import { aMachine, connectMachine } from '../support/agent/scripted-agent.ts';
import { waitFor } from '../support/patience.ts';
import { answerLosingProxy } from '../support/process/answer-losing-proxy.ts';
import { type ApiDocument, operationsOf } from '../support/service/api-document.ts';
import { aCluster } from '../support/service/cluster.ts';
import { anAdmin, anApiToken, aPerson, aService } from '../support/service/service.ts';
import { serverOf } from '../support/terminal/terminals.ts';

const QUICK = { retries: 6, firstMs: 1, maxMs: 4, maxWaitMs: 60_000 };
const SMALL = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

async function aScene(t: Test) {
  const service = await aService();
  const server = await serverOf(t, service);
  const ada = await aPerson(service, 'ada');
  return { service, server, ada, berth: new Berth({ server, token: ada.token, retries: QUICK }) };
}

const refusal = async (call: Promise<unknown>): Promise<BerthError> =>
  await call.then(
    () => Promise.reject(new Error('it was not refused')),
    (failure) => failure,
  );

t.test('containers by name and by id, from creation to erasure', async (t) => {
  const { berth } = await aScene(t);
  const dev = await berth.create({ name: 'dev', ...SMALL });
  t.equal(dev.info.status, 'running');
  t.equal((await berth.container('dev')).id, dev.id);
  t.equal((await berth.container(dev.id)).name, 'dev');
  await dev.update({ memory_mb: 512 });
  t.same(dev.info.resources, { ...SMALL, memory_mb: 512 });
  await dev.stop();
  t.equal(dev.info.status, 'stopped');
  await dev.start();
  t.equal(dev.info.status, 'running');
  await dev.delete();
  t.match(await refusal(berth.container('dev')), { status: 404, code: 'container_not_found' });
  t.equal((await berth.containers.restore(dev.id)).status, 'stopped');
  await berth.containers.delete(dev.id);
  t.match(await berth.containers.purge(dev.id, 'dev'), { db_id: dev.id });
});

t.test('a name that two have means the own one, and without one both are named', async (t) => {
  const { service, server, berth } = await aScene(t);
  const own = await berth.create({ name: 'dev', ...SMALL });
  const sharers = ['bob', 'eve'].map(async (name) => {
    const theirs = new Berth({ server, token: (await aPerson(service, name)).token });
    const { id } = await theirs.create({ name: 'dev', ...SMALL });
    const { code } = await theirs.collaborations.create(id, { mode: 'view' });
    await berth.collaborations.join(code);
    return id;
  });
  const ids = await Promise.all(sharers);
  t.equal((await berth.container('dev')).id, own.id);
  await own.delete();
  const ambiguous = await refusal(berth.container('dev'));
  t.equal(ambiguous.code, 'ambiguous_name');
  for (const id of ids) t.match(ambiguous.message, id);
});

t.test('`await using` deletes a container that is made for the block, and no other', async (t) => {
  const { berth } = await aScene(t);
  {
    await using _kept = await berth.create({ name: 'kept', ...SMALL });
    await using _brief = await berth.create({ name: 'brief', ...SMALL }, { deleteAtEnd: true });
    t.equal((await berth.containers.list().all()).length, 2);
  }
  t.same(
    (await berth.containers.list().all()).map(({ name }) => name),
    ['kept'],
  );
});

t.test('passkeys and connected sign-ins of the caller', async (t) => {
  const { service, ada, berth } = await aScene(t);
  const { passkeys, identities } = service.ports.storage.repositories;
  const person = {
    userId: ada.id,
    issuer: 'https://id.example.org',
    subject: 'ada',
    email: 'ada@example.org',
  };
  const connected = await identities.insert(person);
  const passkey = await passkeys.insert({
    userId: ada.id,
    credentialId: 'one',
    name: 'laptop',
    publicKey: Buffer.from([1]),
    counter: 0,
    transports: [],
    backedUp: false,
  });
  t.match(await berth.me.identities.list().all(), [{ email: 'ada@example.org' }]);
  t.match(await berth.me.identities.delete(connected?.id ?? ''), { deleted: true });
  t.same(await berth.me.identities.list().all(), []);
  t.match(await refusal(berth.me.identities.finish('x')), { code: 'provider_sign_in_expired' });
  t.match(await berth.me.passkeys.rename(passkey?.id ?? '', 'phone'), { name: 'phone' });
  t.match(await berth.me.passkeys.list().all(), [{ name: 'phone' }]);
  t.match(await berth.me.passkeys.delete(passkey?.id ?? ''), { deleted: true });
  t.same(await berth.me.passkeys.list().all(), []);
});

t.test('a list is read page by page', async (t) => {
  const { service, server } = await aScene(t);
  const admin = new Berth({ server, token: (await anAdmin(service)).token });
  const { users } = service.ports.storage.repositories;
  const one = {
    email: null,
    passwordHash: null,
    role: 'user',
    tier: 'free',
    guestUntil: null,
    endsAt: null,
  } as const;
  for (let n = 0; n < 210; n += 1) await users.insert({ ...one, username: `user-${n}` });
  const pages: number[] = [];
  for await (const page of admin.admin.users.list().pages()) pages.push(page.length);
  t.same(pages, [200, 12]);
  const names = new Set<string>();
  for await (const { username } of admin.admin.users.list()) names.add(username);
  t.equal(names.size, 212);
});

t.test('a refusal has its status, code, fields and request id', async (t) => {
  const { server, berth } = await aScene(t);
  const bad = await refusal(berth.create({ name: 'not good', memory_mb: 1 }));
  t.match(bad, { name: 'BerthError', status: 400, code: 'validation_failed' });
  t.same(Object.keys(bad.fields).sort(), ['memory_mb', 'name']);
  t.type(bad.requestId, 'string');
  t.match(await refusal(new Berth({ server, token: 'svc_x' }).me.get()), { status: 401 });
  t.match(
    await refusal(new Berth({ server: 'http://127.0.0.1:1', retries: { ...QUICK, retries: 0 } }).version()),
    { status: 0, code: 'unreachable' },
  );
});

t.test('answers lost on the way: what may be repeated is, with no second effect', async (t) => {
  const { server, ada, berth } = await aScene(t);
  const line = await answerLosingProxy(t, server);
  const far = new Berth({ server: line.origin, token: ada.token, retries: QUICK });
  line.lose(2);
  const dev = await far.create({ name: 'dev', ...SMALL });
  line.lose(2);
  t.equal((await far.containers.get(dev.id)).name, 'dev');
  line.lose(1);
  await dev.update({ memory_mb: 512 });
  t.equal(line.lost(), 5);
  t.same(
    (await berth.containers.list().all()).map(({ resources }) => resources.memory_mb),
    [512],
  );
  line.lose(1);
  t.match(await refusal(far.containers.stop(dev.id)), { status: 0, code: 'unanswered' });
  t.equal(line.lost(), 6, 'a stop is sent once');
  line.lose(100);
  t.match(await refusal(far.containers.get(dev.id)), { status: 0, code: 'unreachable' });
  t.equal(line.lost(), 6 + 1 + QUICK.retries);
});

t.test('what an agent has not begun is asked for again, until it is reached', async (t) => {
  const { here, addresses, ada } = await aCluster(t);
  const { token } = await anApiToken(here, ada);
  const machine = aMachine();
  await connectMachine(addresses[0], token, machine);
  const codes: string[] = [];
  const watched = async (...args: Parameters<typeof fetch>): Promise<Response> => {
    const answer = await fetch(...args);
    if (answer.status === 503) codes.push((await answer.clone().json()).code);
    return answer;
  };
  const server = addresses[1].replace('ws', 'http');
  const far = new Berth({ server, token: ada.token, retries: QUICK, fetch: watched });
  const id = { params: { path: { id: machine.id } } };
  const running = far.api.POST('/api/containers/{id}/exec', { ...id, body: { command: ['uname'] } });
  await waitFor(() => codes.length > 0);
  await connectMachine(addresses[1], token, machine);
  t.match((await running).data, { exit_code: 0, stdout: 'uname\n' });
  t.equal(codes[0], 'agent_elsewhere');
});

t.test('a wait can be aborted, and a longer one than allowed is refused', async (t) => {
  const { service, server, ada } = await aScene(t);
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 1 });
  const berth = new Berth({ server, token: ada.token, retries: QUICK });
  const abort = new AbortController();
  const answers = Promise.all([1, 2, 3].map(() => berth.me.get({ signal: abort.signal })));
  abort.abort(new Error('enough'));
  await t.rejects(answers, { message: 'enough' });
  const impatient = new Berth({ server, token: ada.token, retries: { ...QUICK, maxWaitMs: 0 } });
  const refused = await Promise.all([1, 2, 3].map(() => impatient.me.get().catch((failure) => failure)));
  t.match(refused.at(-1), { status: 429, code: 'rate_limited' });
  t.ok(refused.at(-1).retryAfterSeconds > 0);
});

t.test('a function renews a token that was refused, once', async (t) => {
  const { service, server, ada } = await aScene(t);
  const good = await anApiToken(service, ada);
  const refused: (string | undefined)[] = [];
  const token = (old?: string) => {
    refused.push(old);
    return old === undefined ? 'svc_old' : good.token;
  };
  t.equal((await new Berth({ server, token }).me.get()).username, 'ada');
  t.same(refused, [undefined, 'svc_old']);
  t.match(await refusal(new Berth({ server, token: () => 'svc_old' }).me.get()), { status: 401 });
});

t.test('exactly the operations that take a key are sent with one', async (t) => {
  const { berth } = await aScene(t);
  const document = (await berth.api.GET('/api/openapi.json')).data as unknown as ApiDocument;
  const keyed = operationsOf(document)
    .filter(({ operation }) => operation.parameters?.some(({ name }) => name === 'idempotency-key'))
    .map(({ method, path }) => `${method} ${path}`);
  t.same([...KEYED_OPERATIONS].sort(), keyed.sort());
});

t.test('server and token come from the environment, and a server is an http address', async (t) => {
  const { server, ada } = await aScene(t);
  t.throws(() => new Berth({ server: 'ftp://x' }), /http/);
  t.throws(() => new Berth(), /BERTH_SERVER/);
  process.env['BERTH_SERVER'] = `${server}/`;
  process.env['BERTH_TOKEN'] = ada.token;
  t.teardown(() => {
    delete process.env['BERTH_SERVER'];
    delete process.env['BERTH_TOKEN'];
  });
  const berth = new Berth();
  t.equal(berth.server, server);
  t.equal((await berth.me.get()).username, 'ada');
  t.equal((await new Berth({ server }).me.get()).username, 'ada');
  const asked: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    asked.push(new Headers(init?.headers ?? {}).get('authorization'));
    return Response.json({ version: '1.0.0' });
  };
  await new Berth({ server, token: null, fetch }).version();
  await new Berth({ server: 'http://another.example', fetch }).version();
  t.same(asked, [null, null], 'none is none, and another server gets none');
  for (const named of ['berth.example', 'https://berth.example:443/', 'http://[']) {
    process.env['BERTH_SERVER'] = named;
    await new Berth({ server: 'https://Berth.example', fetch }).version();
  }
  t.same(asked.slice(2), [`Bearer ${ada.token}`, `Bearer ${ada.token}`, null], 'addresses are compared');
});
