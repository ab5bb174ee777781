import t from 'tap';
import { aQuickInstallation, whileRunning } from '../support/process/running-service.ts';
import { checkSnapshotsAndForks } from '../support/process/snapshots.ts';

t.test('snapshots and forks of a running container, with counted sizes', async (t) => {
  const installation = await aQuickInstallation(t, { BERTH_DISK_QUOTA: 'soft' });
  if (installation !== null) await whileRunning(t, installation, (call) => checkSnapshotsAndForks(t, call));
});
