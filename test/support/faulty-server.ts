/** The service, built from source, that ends itself with SIGKILL at the checkpoint that FAULT_AT names. */
import { readConfig } from '../../src/app/main/config.ts';
import { startService } from '../../src/app/main/start.ts';

const settings = readConfig(process.env);
if ('faults' in settings) throw new Error(settings.faults.join('; '));

await startService(settings.config, async (name) => {
  if (name !== process.env['FAULT_AT']) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; nothing may happen after the point.
  await new Promise(() => {});
});
