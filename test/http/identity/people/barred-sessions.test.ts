import t from 'tap';
import { connectMachine } from '../../../support/agent/scripted-agent.ts';
import { NOBODY } from '../../../support/database/stored.ts';
import { aServiceInTime, from, register, signIn } from '../../../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as, outcome } from '../../../support/service/service.ts';
import { listening } from '../../../support/terminal/terminals.ts';

/** Shut: by these an intruder could stay, or do what nobody can undo. */
const SHUT = [
  'PATCH /api/me',
  'POST /api/me/mfa',
  'DELETE /api/me/mfa',
  'POST /api/me/mfa/confirm',
  'POST /api/me/mfa/recovery-codes',
  'POST /api/me/passkeys/options',
  'POST /api/me/passkeys/verify',
  'PATCH /api/me/passkeys/:id',
  'DELETE /api/me/passkeys/:id',
  'DELETE /api/me/identities/:id',
  'PUT /api/me/lock',
  'DELETE /api/me/lock',
  'POST /api/me/ssh-keys',
  'DELETE /api/me/ssh-keys/:id',
  'POST /api/sessions/revoke-others',
  'DELETE /api/sessions/:id',
  'POST /api/tokens',
  'POST /api/tokens/derive',
  'POST /api/tokens/:id/revoke',
  'DELETE /api/tokens/:id',
  'POST /api/agents/enrolments',
  'POST /api/containers/:id/purge',
  'DELETE /api/recordings/:id',
  'POST /api/containers/:id/collaborations',
  'DELETE /api/collaborations/:id',
  'DELETE /api/collaborations/:id/participants/:user_id',
];

const OF_ITS_OWN = 'it changes the session itself alone';
const PASSED_ON = 'the bar is passed on to the program';
const UNDONE = 'it can be undone, or it only makes';
const USED = 'it uses a container, as a terminal does, and ends with the session or stays in the container';

/** Open, and why. */
const OPEN: Readonly<Record<string, string>> = {
  'POST /api/auth/logout': OF_ITS_OWN,
  'POST /api/sessions/lock': OF_ITS_OWN,
  'POST /api/sessions/unlock': OF_ITS_OWN,
  'POST /api/me/confirm': OF_ITS_OWN,
  'POST /api/auth/device/find': PASSED_ON,
  'POST /api/auth/device/approve': PASSED_ON,
  'POST /api/auth/device/deny': PASSED_ON,
  'POST /api/me/password': 'it needs the new password',
  'POST /api/me/identities/start':
    'a confirmation is open; to connect one is shut, as tested with the resets',
  'POST /api/me/identities/finish': 'nothing but a confirmation can have been started',
  'POST /api/mcp': 'its tools are requests with the same session',
  'POST /api/containers': UNDONE,
  'PATCH /api/containers/:id': UNDONE,
  'DELETE /api/containers/:id': 'a container can be restored; to forget an agent is shut, as tested below',
  'POST /api/containers/:id/start': UNDONE,
  'POST /api/containers/:id/stop': UNDONE,
  'POST /api/containers/:id/restore': UNDONE,
  'PATCH /api/containers/:id/lifetime': UNDONE,
  'POST /api/containers/:id/forks': UNDONE,
  'POST /api/containers/:id/snapshots': UNDONE,
  'DELETE /api/snapshots/:id': UNDONE,
  'POST /api/snapshots/:id/restore': UNDONE,
  'POST /api/containers/:id/role-setup/retry': UNDONE,
  'POST /api/containers/:id/role-setup/cancel': UNDONE,
  'POST /api/containers/:id/recordings': UNDONE,
  'POST /api/recordings/:id/stop': UNDONE,
  'POST /api/collaborations/join': UNDONE,
  'POST /api/containers/:id/exec': USED,
  'POST /api/containers/:id/processes': USED,
  'DELETE /api/containers/:id/processes/:process_id': USED,
  'POST /api/containers/:id/processes/:process_id/resize': USED,
  'POST /api/containers/:id/processes/:process_id/signal': USED,
  'POST /api/containers/:id/processes/:process_id/input': USED,
  'PUT /api/containers/:id/files': USED,
  'DELETE /api/containers/:id/files': USED,
  'POST /api/containers/:id/files/search': USED,
};

/** Requests of Ada, an administrator, after a reset: by a passkey that outlived it, and by the new password. */
async function aReset() {
  const service = await aServiceInTime();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  await service.ports.storage.repositories.users.change(ada.id, { role: 'admin' });
  const { key } = await register(service, ada);
  const link = `/api/admin/users/${ada.id}/reset-links`;
  const { url } = (await as(service, root)('POST', link, { kind: 'password' })).json();
  const opened = { code: url.split('#code=')[1], password: 'battery horse correct' };
  t.equal((await from(service)('/api/auth/resets/use', opened)).statusCode, 200);
  const renewed = (
    await from(service)('/api/auth/login', { email: 'ada@example.org', password: opened.password })
  ).json();
  return { service, barred: as(service, (await signIn(service, key)).json()), renewed };
}

t.test('what a passkey that outlived a reset may do in the hour after it', async (t) => {
  const { service, barred } = await aReset();
  const isShut = async (route: string): Promise<boolean> => {
    const [method, path = ''] = route.split(' ');
    // As through a proxy: local programs need no credential for the metrics.
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const answer = await barred(method as 'GET', path.replaceAll(/:\w+/g, NOBODY), undefined, headers);
    return answer.statusCode === 403 && answer.json().code === 'new_password_required';
  };
  const shut: string[] = [];
  const open: string[] = [];
  for (const [route, scope] of service.http.routeScopes) {
    if (route.startsWith('HEAD ') || scope === 'public' || scope === 'api_token') continue;
    // It would end the session.
    if (route === 'POST /api/auth/logout') open.push(route);
    else if (scope === 'admin') t.ok(await isShut(route), route);
    else if (await isShut(route)) shut.push(route);
    else if (!route.startsWith('GET ')) open.push(route);
  }
  t.same(shut.sort(), [...SHUT].sort());
  t.same(open.sort(), Object.keys(OPEN).sort(), 'each has a reason');
});

t.test('it may stop an agent, but not forget it', async (t) => {
  const { service, barred, renewed } = await aReset();
  const { token } = await anApiToken(service, renewed);
  const address = await listening(t, service);
  await connectMachine(address, token);
  const [{ id, db_id }] = (await barred('GET', '/api/containers')).json().containers;
  for (const each of [id, db_id]) {
    t.match(outcome(await barred('DELETE', `/api/containers/${each}`)), [403, 'new_password_required']);
  }
  t.equal((await barred('POST', `/api/containers/${id}/stop`)).statusCode, 200);
  t.equal((await as(service, renewed)('DELETE', `/api/containers/${id}`)).statusCode, 200, 'its owner may');
});
