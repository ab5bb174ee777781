import { oneFile } from './one-file.vite.mjs';

/** The command `berth`, for any machine with Node.js 20. */
export default oneFile({ entry: 'cli/berth.ts', target: 'node20', name: 'berth.mjs' });
