import t from 'tap';
import { containerCommandsContract, containerInsightContract } from '../contract/container-access.ts';
import { containerFilesContract } from '../contract/files.ts';
import { engineOrSkip, testInstance } from '../support/engine/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await containerCommandsContract('docker', instance);
  await containerFilesContract('docker', instance);
  await containerInsightContract('docker', instance);
}
