import type { ScreenLock } from '../../../../app/identity/account/screen-lock.ts';
import { orThrow } from '../../errors.ts';
import * as schema from '../../schema/second-factor.ts';
import type { Routes } from '../../server.ts';

const config = { scope: 'login' } as const;

export const screenLockRoutes =
  (screenLock: ScreenLock): Routes =>
  (http) => {
    http.put(
      '/api/me/lock',
      { config, schema: { body: schema.PasscodeChange, response: { 200: schema.PasscodeSetBody } } },
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.setPasscode(caller, body.passcode, body.current_passcode, origin));
        return { passcode_set: true };
      },
    );

    http.delete(
      '/api/me/lock',
      { config, schema: { body: schema.PasscodeRemoval, response: { 200: schema.PasscodeSetBody } } },
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.removePasscode(caller, body.current_passcode, origin));
        return { passcode_set: false };
      },
    );

    http.post(
      '/api/sessions/lock',
      { config, schema: { response: { 200: schema.LockBody } } },
      async ({ caller, origin }) => {
        orThrow(await screenLock.lock(caller, origin));
        return { locked: true };
      },
    );

    http.post(
      '/api/sessions/unlock',
      {
        config: { ...config, whileLocked: true },
        schema: { body: schema.PasscodeRequest, response: { 200: schema.LockBody } },
      },
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.unlock(caller, body.passcode, origin));
        return { locked: false };
      },
    );
  };
