/** The bytes of stdout, and after a comma of stderr, that a client has. */
export const OFFSETS_PATTERN = '^[0-9]{1,15}(,[0-9]{1,15})?$';

/** Offsets by this pattern; without them, the start. */
export function offsetsIn(after = '0,0'): { readonly stdout: number; readonly stderr: number } {
  const [stdout = '0', stderr = '0'] = after.split(',');
  return { stdout: Number(stdout), stderr: Number(stderr) };
}
