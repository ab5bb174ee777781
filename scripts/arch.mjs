import path from 'node:path';
import { runMain } from './lib/fault.mjs';
import { checkFolders } from './lib/folders.mjs';
import { checkLayers } from './lib/layers.mjs';
import { checkPorts } from './lib/ports.mjs';

await runMain(async () => {
  const root = process.argv[2] ?? path.dirname(import.meta.dirname);
  const verdicts = [await checkLayers(root), await checkPorts(root), checkFolders(root)];
  for (const { report } of verdicts) console.log(report);
  return verdicts.every(({ ok }) => ok) ? 0 : 1;
});
