import { execInContainer, streamExec } from './exec.ts';
import { openFile, removeFile, writeFile } from './files.ts';
import { readChanges, readLogs, readUsage } from './insight.ts';
import { type AccessDeps, mayContinue } from './running-container.ts';

export type ContainerAccess = ReturnType<typeof containerAccess>;

/** The use cases inside containers: commands, files, logs, statistics and loss reports. */
export const containerAccess = (deps: AccessDeps) => ({
  exec: execInContainer(deps),
  streamExec: streamExec(deps),
  openFile: openFile(deps),
  writeFile: writeFile(deps),
  removeFile: removeFile(deps),
  logs: readLogs(deps),
  usage: readUsage(deps),
  changes: readChanges(deps),
  mayGoOnReading: mayContinue(deps, 'read'),
  mayGoOnChanging: mayContinue(deps, 'change'),
});
