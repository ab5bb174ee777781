import type { DeviceSignIn } from '../../../domain/identity/device-sign-in.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { DeviceSignInRepository } from '../../../ports/identity/device-sign-in-repository.ts';
import type { FactorState } from './totp-state.ts';

export function memoryDeviceSignIns(state: FactorState, clock: Clock): DeviceSignInRepository {
  const alive = () => [...state.deviceSignIns].filter(([, { expiresAt }]) => expiresAt > clock.now());
  const get = (deviceHash: Buffer): DeviceSignIn | null =>
    alive().find(([key]) => key === deviceHash.toString('hex'))?.[1] ?? null;
  const undecided = (userCodeHash: Buffer) =>
    alive().find(
      ([, { userCodeHash: hash, decision }]) => hash === userCodeHash.toString('hex') && decision === null,
    );

  return {
    async insert({ deviceHash, userCodeHash, machine, origin }, lifeMinutes) {
      const hash = userCodeHash.toString('hex');
      if (alive().some(([, one]) => one.userCodeHash === hash)) return null;
      const startedAt = clock.now();
      const expiresAt = new Date(startedAt.getTime() + lifeMinutes * 60_000);
      const unused = { polledAt: null, decision: null };
      const made = { userCodeHash: hash, machine, origin, startedAt, expiresAt, ...unused };
      state.deviceSignIns.set(deviceHash.toString('hex'), made);
      return expiresAt;
    },

    async count(ipAddress) {
      const all = alive();
      const group = addressGroup(ipAddress);
      const ofAddress = all.filter(([, { origin }]) => addressGroup(origin.ipAddress) === group);
      return { ofAddress: ofAddress.length, all: all.length };
    },

    async lock(deviceHash) {
      const signIn = get(deviceHash);
      return signIn === null ? null : { signIn, now: clock.now() };
    },

    async polled(deviceHash) {
      const key = deviceHash.toString('hex');
      const found = state.deviceSignIns.get(key);
      if (found) state.deviceSignIns.set(key, { ...found, polledAt: clock.now() });
    },

    findUndecided: async (userCodeHash) => undecided(userCodeHash)?.[1] ?? null,

    async decide(userCodeHash, decision, lifeSeconds) {
      const [key, found] = undecided(userCodeHash) ?? [];
      if (key === undefined || found === undefined) return false;
      const latest = clock.now().getTime() + lifeSeconds * 1000;
      const expiresAt = new Date(Math.min(found.expiresAt.getTime(), latest));
      state.deviceSignIns.set(key, { ...found, decision, expiresAt });
      return true;
    },

    async remove(deviceHash) {
      state.deviceSignIns.delete(deviceHash.toString('hex'));
    },
  };
}
