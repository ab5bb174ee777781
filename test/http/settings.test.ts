import t from 'tap';
import { anAdmin, aPerson, aService, as } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';

t.test('administrators read and change the settings; the change is on record', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const url = '/api/admin/settings';
  const before = (await as(service, root)('GET', url)).json();
  t.match(before, {
    open_registration: false,
    session_idle_minutes: 1440,
    retention_days: 7,
    history_days: 30,
  });
  const changed = await as(service, root)('PATCH', url, { session_idle_minutes: 30 });
  t.same(changed.json(), { ...before, session_idle_minutes: 30 });
  t.match(auditOf(service, 'settings_updated'), [{ userId: root.id, details: '{"sessionIdleMinutes":30}' }]);
  for (const body of [
    { session_idle_minutes: 29 },
    { session_idle_minutes: 1441 },
    { session_idle_minutes: 30.5 },
    { session_idle_minutes: '60' },
    { retention_days: -1 },
    { retention_days: 1.5 },
    { retention_days: 3651 },
    { history_days: 29 },
    { history_days: 3651 },
    { open_registration: 'true' },
    { open_registration: null },
    { jwt_secret: 'x' },
  ]) {
    t.equal((await as(service, root)('PATCH', url, body)).statusCode, 400, JSON.stringify(body));
  }
  const ada = await aPerson(service, 'ada');
  t.equal((await as(service, ada)('GET', url)).json().code, 'not_authorized');
  t.equal((await as(service, ada)('PATCH', url, { open_registration: true })).statusCode, 403);
});
