import { stopAll } from './infra.ts';

await stopAll();
