import type Docker from 'dockerode';
import { followToEnd, type Report, throttled } from './progress.ts';

const FIRST_ANSWER_SECONDS = 6;
const PULL_SECONDS = 300;
const REPORT_MS = 3000;

/** Names below `berth/` are made on this machine; nobody else's image must ever answer to them. */
export const isMadeHere = (reference: string): boolean => reference.startsWith('berth/');

/** Pulls an image. A registry that does not answer at once counts as absent. */
export async function pullImage(
  docker: Docker,
  reference: string,
  progress: (message: string) => void,
): Promise<void> {
  progress(`asking the registry for ${reference}`);
  const abort = new AbortController();
  const limit = (seconds: number): NodeJS.Timeout => setTimeout(() => abort.abort(), seconds * 1000);
  let timer = limit(FIRST_ANSWER_SECONDS);
  try {
    const answer = await docker.pull(reference, { abortSignal: abort.signal });
    clearTimeout(timer);
    timer = limit(PULL_SECONDS);
    await followToEnd(
      docker,
      answer,
      throttled(REPORT_MS, ({ status, id }: Report) =>
        progress(`pulling ${reference}: ${status} ${id ?? ''}`),
      ),
    );
  } catch (error) {
    const reason = abort.signal.aborted ? 'no answer in time' : (error as Error).message.trim();
    throw new Error(`registry: ${reason}`);
  } finally {
    clearTimeout(timer);
  }
}
