import type { Test } from 'tap';
import type { KernelShares } from '../../../src/ports/containers/kernel-shares.ts';

export type OpenShares = {
  readonly shares: KernelShares;
  /** Of a container that runs. */
  readonly runtimeId: string;
  readonly stop: () => Promise<unknown>;
};

/** Guarantees of reading containers' kernel counters. */
export async function kernelSharesContract(t: Test, { shares, runtimeId, stop }: OpenShares): Promise<void> {
  const seen = async () => (await shares.read())?.shares.find((share) => share.runtimeId === runtimeId);
  const counts = Object.values((await seen())?.counts ?? {});
  t.equal(counts.length, 9, 'a container that runs is looked at');
  t.ok(
    counts.every((count) => Number.isInteger(count) && count >= 0),
    `${counts}`,
  );
  const limits = Object.values((await shares.read())?.limits ?? {});
  t.ok(limits.length > 0 && limits.every((limit) => limit > 0), `${limits}`);
  await stop();
  t.equal(await seen(), undefined, 'one that has stopped has nothing');
}
