import { within } from '../../concurrency/timeout.ts';
import { OutcomeUnknown, RuntimeBusy, RuntimeFailure } from '../../ports/containers/container-runtime.ts';
import type {
  Channel,
  ChannelFault,
  ChannelKind,
  Peer,
  RequestOf,
  ResultOf,
} from '../../protocol/agent/index.ts';

/** The agent refused a request, or ended it. */
export class AgentFault extends RuntimeFailure {
  override name = 'AgentFault';
  readonly code: string;
  constructor({ code, message }: ChannelFault) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

const RETRY_SECONDS = 5;

/** The agent has not begun, and will not. */
export const notDone = (): RuntimeBusy => new RuntimeBusy('agent_unresponsive', RETRY_SECONDS);

/** A channel's end without a result, as an error: a lost one leaves open whether the work was done. */
export function errorOf(fault: ChannelFault): Error {
  if (fault.code === 'unsent') return notDone();
  if (fault.code === 'lost') return new OutcomeUnknown('the connection to the agent was lost');
  return new AgentFault(fault);
}

export const tooMany = (): Error =>
  new AgentFault({ code: 'too_many_channels', message: 'too many at once' });

/** How long a connected agent may take to begin a request, as a container's engine may. */
export const ANSWER_MS = 20_000;

const unanswered = (): Error => new OutcomeUnknown('the agent did not answer');

/** The agent's answer. Without one in time `giveUp` ends the request, and the answer is an error. */
export async function answerWithin<T>(
  ms: number,
  answer: Promise<T>,
  giveUp: () => void,
  late = unanswered,
): Promise<T> {
  const answered = await within(
    ms,
    answer.then((value) => ({ value })),
    null,
  );
  if (answered !== null) return answered.value;
  giveUp();
  throw late();
}

/** A request with a result alone, which the agent must give in this time. */
export function ask<K extends ChannelKind>(
  peer: Peer,
  request: RequestOf<K>,
  withinMs: number,
): Promise<ResultOf<K>> {
  const { promise, resolve, reject } = Promise.withResolvers<ResultOf<K>>();
  const channel = peer.open(request, {
    finished: (result) => resolve(result as ResultOf<K>),
    reset: (fault) => reject(errorOf(fault)),
  });
  if (channel === null) reject(tooMany());
  return answerWithin(withinMs, promise, () => channel?.reset('ended'));
}

/**
 * Sends all bytes in portions that the other side has room for, or until the channel ends. `whenRoom` calls back once,
 * when there may be more room, and after the end.
 */
export async function sendWithin(
  channel: Channel,
  bytes: Buffer,
  whenRoom: (then: () => void) => void,
): Promise<void> {
  let rest = bytes;
  while (channel.isOpen && rest.length > 0) {
    rest = rest.subarray(channel.write(rest));
    if (rest.length > 0 && channel.isOpen) await new Promise<void>(whenRoom);
  }
}
