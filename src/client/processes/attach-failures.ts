import type { ProcessServerFrame } from '../../protocol/process-frames.ts';
import { BerthError } from '../request/errors.ts';

/** The reason of a close after input that does not follow what the process has. */
export const INPUT_GAP = 'input gap';
/** The refusal of a size, which means nothing for such a process. */
export const NO_TERMINAL = 'process_without_terminal';

export const gapFailure = (): BerthError =>
  new BerthError(409, 'process_input_gap', 'another client has sent input');
/** The service counts input by the client's own name. */
export const miscounted = (): BerthError =>
  new BerthError(
    409,
    'process_input_gap',
    'the service counts more input than was sent: what the process has read is unknown',
  );
export const failureOf = ({ code }: Extract<ProcessServerFrame, { type: 'refused' }>): BerthError =>
  new BerthError(409, code, code.replaceAll('_', ' '));
