import { PassThrough } from 'node:stream';
import type { TerminalBackend } from '../../ports/terminal-backend.ts';

/** Terminals that echo what is typed; a multiplexer session lives as long as one of them is open. */
export function memoryTerminals(): TerminalBackend {
  const open = new Map<PassThrough, string>();
  return {
    async open(_handle, { muxSession }) {
      const stream = new PassThrough();
      open.set(stream, muxSession);
      stream.once('close', () => open.delete(stream));
      return {
        stream,
        muxSession,
        resize: async () => {},
        exitCode: async () => 0,
        close: async () => void stream.destroy(),
      };
    },
    async killMuxSession(_handle, name) {
      for (const [stream, muxSession] of open) if (muxSession === name) stream.destroy();
    },
  };
}
