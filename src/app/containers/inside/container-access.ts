import { type SearchDeps, searchFiles } from '../file-search/search-files.ts';
import { watchFiles } from '../file-search/watch-files.ts';
import { execInContainer, mayExec, streamExec } from './exec.ts';
import { openFile, removeFile, writeFile } from './files.ts';
import { readChanges, readLogs, readUsage } from './insight.ts';
import { readPorts } from './listening-ports.ts';
import { mayContinue } from './running-container.ts';

export type ContainerAccess = ReturnType<typeof containerAccess>;

/** The use cases inside containers: commands, files, logs, statistics and loss reports. */
export const containerAccess = (deps: SearchDeps) => ({
  mayExec: mayExec(deps),
  exec: execInContainer(deps),
  streamExec: streamExec(deps),
  openFile: openFile(deps),
  writeFile: writeFile(deps),
  removeFile: removeFile(deps),
  searchFiles: searchFiles(deps),
  watchFiles: watchFiles(deps),
  logs: readLogs(deps),
  usage: readUsage(deps),
  ports: readPorts(deps),
  changes: readChanges(deps),
  mayGoOnReading: mayContinue(deps, 'read'),
  mayGoOnChanging: mayContinue(deps, 'change'),
});
