import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** @param {string | Buffer} content */
export const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** @param {string} file */
export const sha256OfFile = (file) => sha256(readFileSync(file));
