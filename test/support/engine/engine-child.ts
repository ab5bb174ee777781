/** Opens the engine of a data folder, says so, and waits to be killed: a service that gets no chance to stop. */
import { openEngine } from '../../../src/adapters/docker/private-engine/open-engine.ts';

const log = { info: () => {}, warn: () => {}, error: console.error };
const dataDir = process.argv[2] ?? '';
const engine = await openEngine({ dataDir, mode: 'auto', dockerHost: null, progress: () => {}, log });
console.log(JSON.stringify({ kind: engine.kind, endpoint: engine.endpoint, mend: engine.mend }));
// Keeps this process for as long as the test may need it.
setTimeout(() => {}, 60_000);
