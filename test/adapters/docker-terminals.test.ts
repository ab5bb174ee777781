import t from 'tap';
import { terminalBackendContract } from '../contract/terminal-backend.ts';
import { aSpec } from '../support/container-spec.ts';
import { engineOrSkip, testInstance } from '../support/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const { runtime, terminals, image } = await testInstance(t, engine);
  const handle = await runtime.create(aSpec(image));
  await runtime.start(handle);
  await terminalBackendContract('docker', { terminals, handle });
}
