/** The pattern of `STDOUT,STDERR`: how many bytes of each a client has. */
export const OFFSETS_PATTERN = '^[0-9]{1,15}(,[0-9]{1,15})?$';

/** Reads offsets of this pattern; without text, the start. */
export function offsetsIn(after = '0,0'): { readonly stdout: number; readonly stderr: number } {
  const [stdout = '0', stderr = '0'] = after.split(',');
  return { stdout: Number(stdout), stderr: Number(stderr) };
}
