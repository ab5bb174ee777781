import { createRequire } from 'node:module';
import type * as NodePty from '@lydell/node-pty';

const load = createRequire(import.meta.url);

/**
 * The native module that makes pseudo-terminals. It is loaded when it is first needed, so that a platform without one is
 * a message for a person. Throws on such a platform.
 */
export const terminalModule = (): typeof NodePty => load('@lydell/node-pty');

/** Why this platform has no pseudo-terminals, in words for a person; null when it has them. */
export function terminalModuleFault(): string | null {
  try {
    terminalModule();
    return null;
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `the agent does not run on ${process.platform} ${process.arch}: ${why}. It needs Linux with glibc on x64 or arm64, and the native module for it beside the agent`;
  }
}
