import { readFileSync } from 'node:fs';

/** This process's limit of open files, connections included; null where the system has none. */
export function openFilesLimit(): number | null {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
