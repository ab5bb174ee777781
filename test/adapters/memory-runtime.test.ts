import { memoryRuntime } from '../../src/adapters/memory/container-runtime.ts';
import { memoryTerminals } from '../../src/adapters/memory/terminal-backend.ts';
import type { RuntimeHandle } from '../../src/ports/container-runtime.ts';
import { containerRuntimeContract } from '../contract/container-runtime.ts';
import { terminalBackendContract } from '../contract/terminal-backend.ts';
import { aSpec } from '../support/container-spec.ts';

const runtime = memoryRuntime();
const pause = async ({ runtimeId }: RuntimeHandle): Promise<void> => {
  const box = runtime.boxes.get(runtimeId);
  if (box !== undefined) box.paused = true;
};
await containerRuntimeContract('memory', { runtime, image: 'any', pause });

const handle = await runtime.create(aSpec('any'));
await runtime.start(handle);
await terminalBackendContract('memory', { terminals: memoryTerminals(runtime), handle });
