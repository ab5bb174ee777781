import t, { type Test } from 'tap';
import { aMachine, connectMachine, openSocket } from '../../support/agent/scripted-agent.ts';
import { anApiToken, aPerson, aService, as } from '../../support/service/service.ts';
import { listening } from '../../support/terminal/terminals.ts';

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

t.test('a token that is restricted to a container connects no machine as that container', async (t) => {
  const { service, address, by, box, listed } = await aScene(t);
  const child = (await by('POST', '/api/tokens/derive', { name: 'child', containers: [box] })).json();
  await t.rejects(openSocket(address, child.token, box), { status: 403, code: 'not_authorized' });
  await t.rejects(openSocket(address, child.token, box.toUpperCase()), { code: 'not_authorized' });
  t.same(
    (await listed()).map(({ db_id }) => db_id),
    [box],
  );
  t.equal((await as(service, child)('GET', `/api/containers/${box}`)).statusCode, 200);
});
