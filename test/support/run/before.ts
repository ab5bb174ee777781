import { ask, type Need } from './infra.ts';

// Whatever is missing then is reported by the test that needs it.
const all: readonly Need[] = ['postgres', 'engine', 'browser'];
await Promise.all(all.map((need) => ask(need)));
