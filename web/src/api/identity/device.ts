import { post } from '../calls.ts';
import type { Device } from '../types.ts';
import type { Proof } from './account.ts';

/** Programs that sign in by a code. */

export const findDevice = (user_code: string) => post<Device>('/api/auth/device/find', { user_code });

export const approveDevice = (user_code: string, proof: Proof) =>
  post('/api/auth/device/approve', { user_code, ...proof });

export const denyDevice = (user_code: string) => post('/api/auth/device/deny', { user_code });
