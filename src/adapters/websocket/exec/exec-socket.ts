import type { FastifyInstance } from 'fastify';
import type { CommandRuns } from '../../../app/containers/inside/command-runs.ts';
import type { ContainerAccess } from '../../../app/containers/inside/container-access.ts';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import { type DomainError, Refusal } from '../../../domain/errors.ts';
import { authorize, type Caller } from '../../../domain/identity/caller.ts';
import type { Logger } from '../../../ports/logger.ts';
import { EXEC_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { IN_CONTAINER, plainRequest } from '../upgrade-required.ts';
import { FAILURE, type RunCommand } from './exec-command.ts';
import { ExecRelay } from './exec-relay.ts';
import { ExecRuns } from './exec-runs.ts';

export type ExecSocketDeps = {
  readonly access: Pick<ContainerAccess, 'mayExec' | 'streamExec' | 'mayGoOnChanging'>;
  readonly records: CommandRuns;
  readonly live: AuthorizedConnections;
  readonly log: Logger;
  /** A refusal's words, as in an answer. */
  readonly wordsOf: (code: DomainError['code']) => string;
};

/**
 * GET /api/containers/{id}/exec: refusals are plain HTTP before the upgrade; then one command, new or resumed, with its
 * input.
 */
export function execSocket(http: FastifyInstance, deps: ExecSocketDeps): void {
  const { access, records, live, log, wordsOf } = deps;
  const mayStay = (now: Caller): boolean => authorize(now, 'write').ok && access.mayGoOnChanging(now);
  const runs = new ExecRuns({ live, mayStay });
  http.beforeSocketsClose(() => {
    records.shut();
    runs.shut();
  });
  http.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/api/containers/:id/exec',
    config: {
      scope: 'write',
      forRestricted: true,
      subprotocol: EXEC_PROTOCOL,
      failure: FAILURE,
      lasting: 'commands',
    },
    schema: {
      operationId: 'containers.execConnect',
      summary: 'Run a command with input as it comes',
      refusals: IN_CONTAINER,
    },
    preHandler: async ({ params, caller }) => {
      const found = await access.mayExec(params.id, caller);
      if (!found.ok) throw new Refusal(found.error);
    },
    handler: plainRequest,
    wsHandler: (socket, { caller, origin, params: { id } }) => {
      const run: RunCommand = (request, name) => {
        const open = () => access.streamExec(id, request, caller, origin);
        return name === null ? open() : records.start(name, open);
      };
      new ExecRelay(socket, caller, { run, live, log, wordsOf, mayStay, runs, records, containerId: id });
    },
  });
}
