import { oneFile } from './one-file.vite.mjs';

/** The agent, beside its native module, for machines with Node.js 22. */
export default oneFile({
  entry: 'agent/bin/agent.ts',
  target: 'node22',
  name: 'agent.mjs',
  external: ['@lydell/node-pty'],
});
