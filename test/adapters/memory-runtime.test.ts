import { memoryRuntime } from '../../src/adapters/memory/container-runtime.ts';
import { memoryTerminals } from '../../src/adapters/memory/terminal-backend.ts';
import { containerRuntimeContract } from '../contract/container-runtime.ts';
import { terminalBackendContract } from '../contract/terminal-backend.ts';
import { aSpec } from '../support/container-spec.ts';

await containerRuntimeContract('memory', { runtime: memoryRuntime(), image: 'any' });

const runtime = memoryRuntime();
const handle = await runtime.create(aSpec('any'));
await runtime.start(handle);
await terminalBackendContract('memory', { terminals: memoryTerminals(runtime), handle });
