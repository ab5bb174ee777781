import path from 'node:path';
import { runMain } from './lib/fault.mjs';
import { checkLayers } from './lib/layers.mjs';

await runMain(async () => {
  const { ok, report } = await checkLayers(process.argv[2] ?? path.dirname(import.meta.dirname));
  console.log(report);
  return ok ? 0 : 1;
});
