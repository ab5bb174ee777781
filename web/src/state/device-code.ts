import { linkCode } from '../lib/browser/link-code.ts';

/** The path where the code of a program is confirmed. */
export const DEVICE_PATH = '/device';

export const { start: startDeviceCodes, take: takeDeviceCode, hold: holdDeviceCode } = linkCode(DEVICE_PATH);
