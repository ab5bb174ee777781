import { type Need, provide } from './infra.ts';

// A missing part is reported by the test that needs it.
const all: readonly Need[] = ['postgres', 'engine', 'browser'];
await Promise.all(all.map((need) => provide(need)));
