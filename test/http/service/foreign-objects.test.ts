import t, { type Test } from 'tap';
import { aMachine, connectMachine } from '../../support/agent/scripted-agent.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { SSH_KEYS } from '../../support/samples/samples.ts';
import { register } from '../../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as, sessionIdOf } from '../../support/service/service.ts';
import { aStudio } from '../../support/terminal/recordings.ts';

/** The requests that name an object, by the kind of object that the 404 names. */
const REQUESTS = {
  token: ['POST /api/tokens/:id/revoke', 'DELETE /api/tokens/:id'],
  session: ['DELETE /api/sessions/:id'],
  'ssh key': ['DELETE /api/me/ssh-keys/:id'],
  passkey: ['PATCH /api/me/passkeys/:id {"name":"mine"}', 'DELETE /api/me/passkeys/:id'],
  snapshot: ['GET /api/snapshots/:id', 'DELETE /api/snapshots/:id', 'POST /api/snapshots/:id/restore {}'],
  recording: [
    ...['GET /api/recordings/:id', 'GET /api/recordings/:id/cast'],
    ...['POST /api/recordings/:id/stop', 'DELETE /api/recordings/:id'],
  ],
  // An agent is reached as a container is.
  container: [
    ...['GET /api/containers/:id', 'DELETE /api/containers/:id', 'GET /api/containers/:id/files?path=x'],
    ...['POST /api/containers/:id/stop', 'POST /api/containers/:id/start'],
    'POST /api/containers/:id/exec {"command":["id"]}',
  ],
} as const;
type Kind = keyof typeof REQUESTS;

const LISTS = ['tokens', 'sessions', 'me/ssh-keys', 'me/passkeys', 'snapshots', 'recordings', 'containers'];

/** One of each of Ada's. */
async function aScene(t: Test) {
  const { service, ada, address, call, dbId, open, record } = await aStudio(t);
  const made = async (url: string, body: object) => (await call('POST', url, body)).json().id as string;
  const [[type, , base64] = ['', '', '']] = SSH_KEYS;
  const machine = aMachine();
  const token = await anApiToken(service, ada);
  await connectMachine(address, token.token, machine);
  await open();
  const ids: Record<Kind, string> = {
    token: token.id,
    session: await sessionIdOf(service, ada),
    'ssh key': await made('/api/me/ssh-keys', { public_key: `${type} ${base64}` }),
    passkey: (await register(service, ada)).passkey.id,
    snapshot: await made(`/api/containers/${dbId}/snapshots`, { name: 'base' }),
    recording: (await record()).json().id,
    container: `agent:${machine.id}`,
  };
  return { service, call, ids };
}

t.test("another user's object looks unknown or malformed, byte for byte, and stays", async (t) => {
  const { service, call, ids } = await aScene(t);
  const lists = (by: typeof call) =>
    Promise.all(LISTS.map(async (one) => (await by('GET', `/api/${one}`)).body));
  const before = await lists(call);
  for (const id of Object.values(ids)) t.match(before.join(), id);
  for (const who of [await aPerson(service, 'eve'), await anAdmin(service)]) {
    const by = as(service, who);
    for (const [kind, requests] of Object.entries(REQUESTS)) {
      const id = ids[kind as Kind];
      const none = { error: `${kind} not found`, code: `${kind.replace(' ', '_')}_not_found` };
      for (const request of requests) {
        const [method, path = '', body] = request.split(' ');
        const answers = new Set<string>();
        for (const one of [
          id,
          NOBODY,
          'x',
          '%00',
          `${id}%20`,
          "'; drop table",
          '__proto__',
          'a'.repeat(128),
        ]) {
          const url = path.replace(':id', one);
          const answer = await by(method as 'GET', url, body === undefined ? body : JSON.parse(body));
          const { date: _d, 'x-request-id': _r, ...headers } = answer.headers;
          answers.add(JSON.stringify([answer.statusCode, answer.body, headers]));
        }
        const [answer = '[]', ...others] = answers;
        t.same([JSON.parse(answer).slice(0, 2), others], [[404, JSON.stringify(none)], []], request);
      }
    }
    const seen = (await lists(by)).join();
    for (const id of Object.values(ids)) t.notMatch(seen, id);
    const fork = await by('POST', '/api/containers', { name: 'x', snapshot_id: ids.snapshot });
    t.match(fork.json(), { fields: { snapshot_id: /one of your/ } });
  }
  t.same(await lists(call), before);
});
