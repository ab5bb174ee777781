import type { IncomingMessage } from 'node:http';
import { type EngineCalls, LIMITS } from '../engine/engine-client.ts';

/** A GET with a streamed answer. A caller that leaves must destroy it. */
export const engineStream = (
  calls: EngineCalls,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> =>
  calls.read(LIMITS.list, async (abortSignal) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        path: `${path}?`,
        method: 'GET',
        isStream: true,
        options: { ...query },
        statusCodes: { 200: true, 404: 'no such container', 409: 'conflict', 500: 'server error' },
        abortSignal,
      };
      calls.docker.modem.dial(options, (error: unknown, answer: unknown) =>
        error ? reject(error) : resolve(answer as IncomingMessage),
      );
    });
    // an error is followed by the end, which every reader notices
    answer.on('error', () => {});
    return answer;
  });
