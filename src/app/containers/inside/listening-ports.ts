import { type ListeningPort, listeningPorts } from '../../../domain/containers/processes/listening-ports.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok } from '../../../domain/result.ts';
import type { AsyncResult } from '../../async-result.ts';
import { collectOutput } from './command-output.ts';
import { type AccessDeps, findRunning, refuseIfStopped, refuseIfUnknown } from './running-container.ts';

const COMMAND = ['cat', '/proc/net/tcp', '/proc/net/tcp6'];
const LIMITS = { timeoutSeconds: 10, maxOutputBytes: 1_048_576 };

/**
 * The TCP ports on which programs in a running container listen. It changes nothing, so scope `read` is enough. It is
 * recorded in the audit first.
 */
export const readPorts =
  (deps: AccessDeps) =>
  async (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<readonly ListeningPort[]> => {
    const found = await findRunning(deps, id, caller, 'read');
    if (!found.ok) return found;
    const { container, handle } = found.value;
    await deps.acts.record({ action: 'ports_listed', caller, origin, dbId: container.dbId, what: {} });
    const reading = async () => {
      const { timeoutSeconds } = LIMITS;
      const running = await deps.commands.open(handle, { command: COMMAND, timeoutSeconds });
      const { stdout } = await collectOutput(running, LIMITS);
      return ok(listeningPorts(stdout.toString()));
    };
    return await refuseIfUnknown('command_outcome_unknown', refuseIfStopped(reading()));
  };
