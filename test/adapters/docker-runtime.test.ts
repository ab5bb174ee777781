import t from 'tap';
import { containerRuntimeContract } from '../contract/container-runtime.ts';
import { engineOrSkip, testInstance } from '../support/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const { runtime, image } = await testInstance(t, engine);
  await containerRuntimeContract('docker', { runtime, image });
}
