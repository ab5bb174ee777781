const HOME = '/workspace';

/** A folder as the agent names it: what containers have in /workspace is in the home of its user. */
export function onHost(path: string): string {
  if (path === HOME) return '';
  return path.startsWith(`${HOME}/`) ? path.slice(HOME.length + 1) : path;
}
