import type { FieldFaults } from '../../../domain/field-faults.ts';
import {
  decodeExecClientFrame,
  EXEC_CLIENT_FRAMES,
  type ExecResume,
  type ExecStart,
} from '../../../protocol/exec-frames.ts';
import { invalidFields } from '../../../protocol/frames.ts';

/** Parsing a larger one would block the event loop for too long. */
const MAX_START_BYTES = 262_144;

/** What each field of `start` must be. */
const WORDS: Readonly<Record<keyof typeof EXEC_CLIENT_FRAMES.start, string>> = {
  command: 'must be 1 to 1024 texts of at most 32,768 characters, without NUL',
  env: 'must be names with texts',
  workdir: 'must be a path of 1 to 4096 characters',
  timeout_seconds: 'must be a whole number from 1 to 86400',
  stdin: 'must be true or false',
  terminal: 'must have term, and cols and rows from 1 to 1000',
  run: 'must be 16 to 64 letters, digits, hyphens or underscores',
};

const NOT_START = { type: 'must be start or resume in the first frame' };
const NOT_RESUME = { run: 'must name a command, with the bytes received' };

/** The first frame of a socket, or its faults. */
export function readFirst(json: string): ExecStart | ExecResume | { readonly faults: FieldFaults } {
  if (json.length > MAX_START_BYTES) return { faults: { command: 'must be at most 128 KiB in all' } };
  const frame = decodeExecClientFrame(json);
  if (frame?.type === 'start' || frame?.type === 'resume') return frame;
  if (frame !== null) return { faults: NOT_START };
  const wire = parsed(json);
  if (wire?.['type'] === 'resume') return { faults: NOT_RESUME };
  if (wire?.['type'] !== 'start') return { faults: NOT_START };
  const invalid = invalidFields(EXEC_CLIENT_FRAMES.start, wire) as (keyof typeof WORDS)[];
  return { faults: Object.fromEntries(invalid.map((name) => [name, WORDS[name]])) };
}

function parsed(json: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
