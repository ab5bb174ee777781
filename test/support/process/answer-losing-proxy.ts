import { connect as dial } from 'node:net';
import type { Test } from 'tap';
import { ANY_PORT, relay } from './lines.ts';

export type AnswerLosingProxy = {
  readonly origin: string;
  /** The next `answers` are lost. */
  lose(answers: number): void;
  readonly lost: () => number;
};

/** A proxy before a service that loses answers: the requests have arrived. */
export async function answerLosingProxy(t: Test, address: string): Promise<AnswerLosingProxy> {
  const { hostname, port } = new URL(address);
  let toLose = 0;
  let lost = 0;
  const { host } = await relay(
    t,
    ANY_PORT,
    () => dial(Number(port), hostname),
    (from, into) => {
      from.once('close', () => into.destroy());
      from.on('data', (chunk: Buffer) => {
        if (toLose === 0 || !chunk.toString('latin1').startsWith('HTTP/1.1 ')) return into.write(chunk);
        toLose -= 1;
        lost += 1;
        return into.destroy();
      });
    },
  );
  return {
    origin: `http://${host}`,
    lose: (answers) => {
      toLose = answers;
    },
    lost: () => lost,
  };
}
