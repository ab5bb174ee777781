import t from 'tap';
import { containerCommandsContract } from '../contract/container-commands.ts';
import { containerFilesContract } from '../contract/container-files.ts';
import { containerInsightContract } from '../contract/container-insight.ts';
import { engineOrSkip, testInstance } from '../support/engine.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const instance = await testInstance(t, engine);
  await containerCommandsContract('docker', instance);
  await containerFilesContract('docker', instance);
  await containerInsightContract('docker', instance);
}
