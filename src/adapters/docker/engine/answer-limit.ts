import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import type Docker from 'dockerode';

const MIB = 1024 * 1024;
/** Longer than a list of ten thousand containers. */
const MAX_ANSWER_MIB = 32;

export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

type Dialled = { readonly isStream?: boolean };
type Modem = { buildRequest(options: object, call: Dialled, ...rest: unknown[]): void };
type WithRequests = { addRequest(request: ClientRequest, ...rest: unknown[]): void };

/**
 * Limits every answer that the client buffers: all but streams, and an error in place of a stream. `agent` makes an
 * agent for each of the two.
 */
export function limitAnswers(docker: Docker, agent: () => Agent): Docker {
  const whole = watched(agent(), () => true);
  const streamed = watched(agent(), ({ statusCode = 0 }) => statusCode >= 400);
  const modem = docker.modem as unknown as Modem;
  const build = modem.buildRequest.bind(modem);
  modem.buildRequest = (options, call, ...rest) =>
    build(unprinted({ ...options, agent: call.isStream === true ? streamed : whole }), call, ...rest);
  return docker;
}

/**
 * The client formats each request's options for its debug log even when that is off. With the agent and its sockets
 * that took a third of the service's processor time.
 */
const unprinted = <T extends object>(options: T): T =>
  Object.defineProperty(options, inspect.custom, { value: () => 'options', enumerable: false });

function watched(agent: Agent, isKept: (answer: IncomingMessage) => boolean): Agent {
  const queue = agent as unknown as WithRequests;
  const add = queue.addRequest.bind(agent);
  queue.addRequest = (request, ...rest) => {
    request.once('response', (answer) => {
      if (isKept(answer)) limit(answer);
    });
    add(request, ...rest);
  };
  return agent;
}

function limit(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_ANSWER_MIB * MIB) return;
    answer.destroy(new AnswerTooLong(`the engine answered with more than ${MAX_ANSWER_MIB} MiB`));
  });
}
