import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import { containerCommandsContract } from '../contract/container-commands.ts';
import { containerFilesContract } from '../contract/container-files.ts';
import { containerInsightContract } from '../contract/container-insight.ts';
import { roleInstallerContract } from '../contract/role-installer.ts';

const runtime = memoryRuntime();
const memory = { runtime, ...memoryAccess(runtime), image: 'any' };
await containerCommandsContract('memory', memory);
await containerFilesContract('memory', memory);
await containerInsightContract('memory', memory);
await roleInstallerContract('memory', memory);
