import t, { type Test } from 'tap';
import { publishAllCredentialsChanged } from '../../../../src/app/identity/auth/credential-changes.ts';
import { aMachine, connectMachine, openSocket } from '../../../support/agent/scripted-agent.ts';
import {
  aGuest,
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  person,
} from '../../../support/service/service.ts';
import { listening } from '../../../support/terminal/terminals.ts';
import { valuesOf } from '../../../support/values.ts';

const GUEST_MS = 24 * 3_600_000;
const NEW = 'a new password, better';

/** Ada, with a container, on a service that listens. */
async function aScene(t: Test) {
  const service = await aService();
  const address = await listening(t, service);
  const ada = await aPerson(service, 'ada');
  const by = as(service, ada);
  const box: string = (await by('POST', '/api/containers', { name: 'dev' })).json().db_id;
  const enrol = async (agent: string) => {
    const { code } = (await by('POST', '/api/agents/enrolments')).json();
    const request = { code, agent, name: 'laptop' };
    return (await as(service, null)('POST', '/api/agents/enrol', request)).json();
  };
  const listed = async (): Promise<readonly { db_id: string }[]> =>
    (await by('GET', '/api/containers')).json().containers;
  return { service, address, ada, by, box, enrol, listed };
}

t.test('a code makes no token for a container, or for another machine', async (t) => {
  const { service, address, ada, by, box, enrol, listed } = await aScene(t);
  t.equal((await enrol(box)).code, 'enrolment_not_found');
  t.equal((await enrol(box.toUpperCase())).code, 'enrolment_not_found');
  const machine = aMachine();
  const { token } = await anApiToken(service, ada);
  await connectMachine(address, token, machine);
  await by('DELETE', `/api/containers/agent:${machine.id}`);
  await connectMachine(address, token, machine);
  const renewed = (await listed()).find(({ db_id }) => db_id !== box)?.db_id ?? '';
  t.not(renewed, machine.id, 'its agent has another id than the machine');
  t.equal((await enrol(renewed)).code, 'enrolment_not_found');
  t.match(await enrol(machine.id), { token: String }, 'the machine itself may enrol again');
});

t.test('a code of a guest whose time is over makes no token', async (t) => {
  const { service } = await aScene(t);
  const guest = await aGuest(service);
  await as(service, await anAdmin(service))('PATCH', `/api/admin/users/${guest.id}`, { tier: 'free' });
  const by = as(service, guest);
  const enrol = async () => {
    const { code } = (await by('POST', '/api/agents/enrolments')).json();
    return async () => {
      const request = { code, agent: aMachine().id, name: 'laptop' };
      return (await as(service, null)('POST', '/api/agents/enrol', request)).json();
    };
  };
  t.match(await (await enrol())(), { token: String });
  service.clock.advance(GUEST_MS - 60_000);
  const late = await enrol();
  service.clock.advance(60_000);
  t.equal((await late()).code, 'enrolment_not_found');
});

t.test('an unused code ends with the sessions that could have made it', async (t) => {
  const { service, ada, by } = await aScene(t);
  const root = await anAdmin(service);
  const { email, password } = person('ada');
  const withToken = as(service, await anApiToken(service, ada));
  const change = (body: object) => as(service, root)('PATCH', `/api/admin/users/${ada.id}`, body);
  const acts: Record<string, () => Promise<unknown>> = {
    'one session revoked': async () => {
      await by('POST', '/api/auth/login', { email, password });
      const { sessions } = (await by('GET', '/api/sessions')).json();
      const other = sessions.find((one: { is_current: boolean }) => !one.is_current);
      return await by('DELETE', `/api/sessions/${other.id}`);
    },
    'the others revoked': () => by('POST', '/api/sessions/revoke-others'),
    'a new password': () => by('POST', '/api/me/password', { old_password: password, new_password: NEW }),
    disabled: async () => {
      await change({ disabled: true });
      return await change({ disabled: false });
    },
    reset: async () => {
      const made = await as(service, root)('POST', `/api/admin/users/${ada.id}/reset-links`, {
        kind: 'password',
      });
      const code = made.json().url.split('#code=')[1];
      return await as(service, null)('POST', '/api/auth/resets/use', { code, password: NEW });
    },
  };
  for (const [name, act] of Object.entries(acts)) {
    const { code } = (await withToken('POST', '/api/agents/enrolments')).json();
    t.match(await act(), { statusCode: 200 }, name);
    const request = { code, agent: aMachine().id, name: 'laptop' };
    const answer = await as(service, null)('POST', '/api/agents/enrol', request);
    t.equal(answer.json().code, 'enrolment_not_found', name);
  }
});

t.test('a token that is restricted to a container connects no machine as that container', async (t) => {
  const { service, address, by, box, listed } = await aScene(t);
  const child = (await by('POST', '/api/tokens/derive', { name: 'child', containers: [box] })).json();
  await t.rejects(openSocket(address, child.token, box), { status: 403, code: 'not_authorized' });
  await t.rejects(openSocket(address, child.token, box.toUpperCase()), { code: 'not_authorized' });
  t.same(valuesOf(await listed(), 'db_id'), [box]);
  t.equal((await as(service, child)('GET', `/api/containers/${box}`)).statusCode, 200);
});

t.test('the tokens of a forgotten machine end from the top, each on record with its reason', async (t) => {
  const { service, address, by, enrol } = await aScene(t);
  const machine = aMachine();
  const enrolled = await enrol(machine.id);
  await connectMachine(address, enrolled.token, machine);
  const derive = async (token: string) =>
    (await as(service, { token })('POST', '/api/tokens/derive', { name: 'child' })).json();
  const child = await derive(enrolled.token);
  const gone = await derive(enrolled.token);
  await by('POST', `/api/tokens/${gone.id}/revoke`);
  const before = auditOf(service, 'token_revoked').length;
  t.equal((await by('DELETE', `/api/containers/agent:${machine.id}`)).statusCode, 200);
  const ended = auditOf(service, 'token_revoked').slice(before);
  t.match(
    ended.map(({ details }) => JSON.parse(details)),
    [{ id: enrolled.id }, { id: child.id, reason: 'parent_revoked', ended_with: enrolled.id }],
  );
  t.equal(ended.length, 2);
});

t.test('the machine of a guest is closed with the time of the guest', async (t) => {
  const { service, address } = await aScene(t);
  const root = as(service, await anAdmin(service));
  t.equal((await root('PATCH', '/api/admin/tiers/guest', { max_agents: 1 })).statusCode, 200);
  const guest = await anApiToken(service, await aGuest(service));
  const agent = await connectMachine(address, guest.token);
  const { guest_until } = (await as(service, guest)('GET', '/api/me')).json();
  service.clock.advance(Date.parse(guest_until) - service.clock.now().getTime());
  publishAllCredentialsChanged(service.ports.bus);
  t.same(await agent.closed(), [4001, 'unauthorized']);
  t.equal((await as(service, guest)('GET', '/api/me')).statusCode, 200, 'the token itself is still good');
});
