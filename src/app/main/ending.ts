import type { FastifyBaseLogger } from 'fastify';
import { say } from './progress.ts';

const STOP_WITHIN_MS = 30_000;
/** EX_SOFTWARE of sysexits.h. */
const EX_FAULT = 70;

/** What a stop was kept from must be known: the next start has to make up for it. */
function endNow(reason: unknown): never {
  process.stderr.write(`Berth did not stop in order: ${reason instanceof Error ? reason.stack : reason}\n`);
  process.exit(1);
}

/**
 * Ends the process in order by the first signal, by the end of the launcher, and by a fault that nothing caught, which is
 * logged and makes the exit code 70. A second signal ends it at once. Answers what a signal does.
 */
export function endWhenTold(log: Pick<FastifyBaseLogger, 'fatal'>, stop: () => Promise<void>): () => void {
  let exitCode: number | null = null;
  const end = (code: number): void => {
    exitCode = code;
    say('Stopping …');
    setTimeout(() => endNow(`not within ${STOP_WITHIN_MS / 1_000} s`), STOP_WITHIN_MS).unref();
    stop().then(() => process.exit(exitCode ?? code), endNow);
  };
  const isStopping = (): boolean => exitCode !== null;
  const onSignal = (): void => (isStopping() ? endNow('it was told to a second time') : end(0));
  // Rejections that nothing handles come the same way.
  process.on('uncaughtException', (err, origin) => {
    log.fatal({ err, origin }, 'a fault that nothing caught ends the service');
    if (isStopping()) exitCode = EX_FAULT;
    else end(EX_FAULT);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  process.once('disconnect', () => isStopping() || onSignal());
  // The launcher's channel is listened to, but must not keep a start that failed alive.
  process.channel?.unref();
  // A reader of the output that is gone is no reason to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return onSignal;
}

/** SIGHUP rotates the keys, but for a service that was started in a terminal by hand: there the terminal has gone. */
export function rotateWhenTold(onSignal: () => void, rotateKeys: () => Promise<void>): void {
  process.on('SIGHUP', () => {
    if (process.stdout.isTTY && !process.connected) onSignal();
    else void rotateKeys();
  });
}
