/** Opens a data folder's engine, reports it, and waits to be killed: a service without a chance to stop. */
import { openEngine } from '../../../src/adapters/docker/private-engine/open-engine.ts';

const log = { info: () => {}, warn: () => {}, error: console.error };
const dataDir = process.argv[2] ?? '';
const engine = await openEngine({ dataDir, mode: 'auto', dockerHost: null, progress: () => {}, log });
console.log(JSON.stringify({ kind: engine.kind, endpoint: engine.endpoint, mend: engine.mend }));
// Keeps this process alive while the test may need it.
setTimeout(() => {}, 60_000);
