import { readFileSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { within } from '../../concurrency/timeout.ts';
import type { Config } from './config.ts';
import { say } from './process/console-progress.ts';
import { rotateOnSignal, stopOnSignal } from './process/exit.ts';
import { addressOf, originsOf, requireFreePort, stepForOthers } from './process/listen-address.ts';
import { REDACTED } from './process/log-redaction.ts';
import { ROOT } from './process/root.ts';
import { stops } from './process/shutdown-stack.ts';
import { errorSerializer } from './process/source-stack.ts';
import { type Production, type ProductionOptions, production } from './production.ts';

/** From the signal, for a start in progress. */
const GIVE_UP_WITHIN_MS = 5_000;

const serializers = { err: errorSerializer() };

/**
 * Starts everything and prints the address; stops everything on a signal. `checkpoint` is for tests that end the
 * process.
 */
export async function startService(
  config: Config,
  checkpoint?: (name: string) => Promise<void>,
): Promise<void> {
  const log = pino({ level: config.logLevel, redact: REDACTED, serializers }, pino.destination(2));
  const opened = stops(log);
  const stopping = new AbortController();
  const { signal } = stopping;
  const starting = start({
    config,
    log,
    opened,
    signal,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    // Waits, so that nothing opens while the rest is closing.
    await within(GIVE_UP_WITHIN_MS, starting, null).catch(() => undefined);
    await opened.run();
  };
  const onSignal = stopOnSignal(log, stop);
  rotateOnSignal(onSignal, () =>
    starting
      .then(({ rotateKeys }) => rotateKeys())
      .catch((err: unknown) => log.error({ err }, 'could not rotate the keys')),
  );
  try {
    await starting;
  } catch (error) {
    // The running stop ends the process.
    if (signal.aborted) return;
    await stop();
    throw error;
  }
}

type StartOptions = Pick<ProductionOptions, 'config' | 'log' | 'opened' | 'signal' | 'checkpoint'>;

async function start(options: StartOptions): Promise<Production> {
  const { config, signal } = options;
  await requireFreePort(config.host, config.port);
  if (config.ssh !== null) await requireFreePort(config.ssh.host, config.ssh.port, 'BERTH_SSH');
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  const allowedOrigins = new Set(config.allowedOrigins);
  signal.throwIfAborted();
  const running = await production({ ...options, version, root: ROOT, allowedOrigins });
  signal.throwIfAborted();
  await announce(config, running, allowedOrigins);
  return running;
}

/** Listens and prints the address; the set-up link has its code after a `#`, which browsers never send. */
async function announce(
  { host, port, publicUrl, admin, ...config }: Config,
  running: Production,
  allowed: Set<string>,
) {
  const { http, registration, ssh } = running.service;
  if (admin !== null) await registration.ensureAdmin(admin.email, admin.password);
  await http.listen({ host, port });
  if (config.ssh !== null) await ssh.listen(config.ssh.host, config.ssh.port);
  const bound = http.addresses()[0];
  const address = publicUrl ?? addressOf(host, typeof bound === 'object' ? bound.port : port);
  if (config.allowedOrigins.length === 0) for (const origin of originsOf(address)) allowed.add(origin);
  const mend = running.mend();
  if (mend !== null) say(`No container engine found. To fix this: ${mend}`);
  const code = await registration.newSetupCode();
  if (code === null) say(`Berth is ready: ${address}`);
  else say(`Berth is ready. Create the first administrator here: ${address}/setup#code=${code}`);
  const step = stepForOthers(host, publicUrl);
  if (step !== null) say(step);
}
