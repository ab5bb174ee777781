import t from 'tap';
import { actions, aServiceInTime } from '../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as } from '../support/service/service.ts';
import { aContainerOf } from '../support/terminal/terminals.ts';

const TIMES = 1_000;

type Record = { action: string; user_id: string; username: string; ip_address: string; details: string };

/** Eve, whose token is let through as often as it asks, as if she had as many as it takes. */
async function scene() {
  const service = await aServiceInTime();
  const root = as(service, await anAdmin(service));
  const eve = await aPerson(service, 'eve');
  const box = await aContainerOf(service, eve);
  const token = await anApiToken(service, eve, { scopes: ['read', 'write'] });
  await root('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  return { service, root, eve, box, token };
}

t.test('a thousand commands of a stolen token make two records, which name it', async (t) => {
  const { service, root, eve, box, token } = await scene();
  const call = as(service, token);
  for (let n = 0; n < TIMES; n += 1) {
    const answer = await call('POST', `/api/containers/${box}/exec`, { command: ['true', `${n}`] });
    t.equal(answer.statusCode, 200);
  }
  t.equal(actions(service).filter((action) => action === 'command_run').length, 1);
  service.clock.advance(60_000);
  await service.writeDue();
  const { records } = (await root('GET', '/api/admin/audit?action=command_run')).json();
  t.equal(records.length, 2);
  const [rest, first] = records.map((one: Record) => ({ ...one, details: JSON.parse(one.details) }));
  const about = { container_id: box, token_prefix: token.token.slice(0, 12), command: 'true' };
  t.match(first, { user_id: eve.id, username: 'eve', ip_address: '127.0.0.1', details: about });
  t.same(rest.details, { ...about, times: TIMES - 1 });
});

t.test('a thousand changes and failures of one session make few records', async (t) => {
  const { service, eve } = await scene();
  const call = as(service, eve);
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  const before = actions(service).length;
  const current_passcode = '1234';
  for (let n = 0; n < TIMES / 3; n += 1) {
    await call('PUT', '/api/me/lock', { passcode: '1234', current_passcode });
    await call('PATCH', '/api/me', { auto_lock_minutes: 1 + (n % 60) });
    await call('POST', '/api/me/password', { old_password: 'a guess', new_password: 'another good one' });
  }
  const made = actions(service).slice(before);
  t.ok(made.length <= 70, `${made.length} records of ${TIMES} requests`);
  t.same([...new Set(made)].sort(), ['confirmation_failed', 'passcode_changed', 'user_updated']);
});
