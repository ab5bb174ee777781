import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { aCluster } from '../support/service/cluster.ts';
import { as } from '../support/service/service.ts';
import { shown } from '../support/terminal/recordings.ts';

t.test('a terminal is recorded by the process that has it, wherever that is asked for', async (t) => {
  const { here, there, ada, dbId, backend, open, addresses } = await aCluster(t);
  const far = await open(ada, 'main', addresses[1]);
  const told: string[] = [];
  far.socket.on('message', (data, isBinary) => isBinary || told.push(JSON.parse(String(data)).type));
  backend.opened[0]?.say('before ');
  const record = (at: typeof here) => as(at, ada)('POST', `/api/containers/${dbId}/recordings`, {});
  const begun = await record(here);
  t.equal(begun.statusCode, 201);
  const { id, replica } = begun.json();
  const [terminal] = await there.ports.storage.repositories.terminals.list();
  t.equal(replica, terminal?.replica, 'it is made where the terminal is');
  t.equal((await record(here)).json().id, id, 'and once');
  t.equal((await record(there)).json().id, id);
  await waitFor(() => told.includes('recording'));
  backend.opened[0]?.say('after');
  await waitFor(() => far.output() === 'before after');
  const stopped = await as(here, ada)('POST', `/api/recordings/${id}/stop`);
  t.match(stopped.json(), { state: 'ended' });
  const { body } = await as(there, ada)('GET', `/api/recordings/${id}/cast`);
  t.match(shown(body), /^before .*after$/s);
  const { audit } = here.ports.storage.repositories;
  const noted = await audit.page({ userId: ada.id, action: 'recording_started' }, { limit: 10, after: null });
  t.equal(noted.items.length, 1, 'on record once');
});

t.test('a terminal that no process has can not be recorded, nor can one without room', async (t) => {
  const { here, ada, dbId, open, addresses } = await aCluster(t);
  const record = async () => (await as(here, ada)('POST', `/api/containers/${dbId}/recordings`, {})).json();
  t.match(await record(), { code: 'terminal_not_open' });
  const far = await open(ada, 'main', addresses[1]);
  const { settings, terminals } = here.ports.storage.repositories;
  await settings.change({ recordingsMbPerUser: 0 });
  t.match(await record(), { code: 'recording_quota_reached' });
  far.socket.close(1000);
  await waitFor(async () => (await terminals.list()).length === 0);
  t.match(await record(), { code: 'terminal_not_open' });
});
