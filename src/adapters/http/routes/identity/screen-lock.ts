import type { ScreenLock } from '../../../../app/identity/account/screen-lock.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as schema from '../../schema/identity/second-factor.ts';
import { joinRoutes, type Routes } from '../../server.ts';

const config = { scope: 'login' } as const;
const change = { ...config, shutAfterReset: true } as const;

export const screenLockRoutes = (screenLock: ScreenLock): Routes =>
  joinRoutes(passcodeRoutes(screenLock), lockRoutes(screenLock));

const passcodeRoutes =
  (screenLock: ScreenLock): Routes =>
  (http) => {
    http.put(
      '/api/me/lock',
      operation('account.setPasscode', 'Set or change the passcode of the screen lock', {
        config: change,
        refusals: ['confirmation_required', 'wrong_passcode'],
        body: schema.PasscodeChange,
        response: { 200: schema.PasscodeSetBody },
      }),
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.setPasscode(caller, body.passcode, body.current_passcode, origin));
        return { passcode_set: true };
      },
    );

    http.delete(
      '/api/me/lock',
      operation('account.removePasscode', 'Remove the passcode of the screen lock', {
        config: change,
        refusals: ['confirmation_required', 'wrong_passcode'],
        body: schema.PasscodeRemoval,
        response: { 200: schema.PasscodeSetBody },
      }),
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.removePasscode(caller, body.current_passcode, origin));
        return { passcode_set: false };
      },
    );
  };

const lockRoutes =
  (screenLock: ScreenLock): Routes =>
  (http) => {
    http.post(
      '/api/sessions/lock',
      operation('sessions.lock', 'Lock this session', {
        config,
        refusals: ['passcode_not_set'],
        response: { 200: schema.LockBody },
      }),
      async ({ caller, origin }) => {
        orThrow(await screenLock.lock(caller, origin));
        return { locked: true };
      },
    );

    http.post(
      '/api/sessions/unlock',
      operation('sessions.unlock', 'Unlock this session', {
        config: { ...config, whileLocked: true },
        refusals: ['passcode_not_set', 'wrong_passcode'],
        body: schema.PasscodeRequest,
        response: { 200: schema.LockBody },
      }),
      async ({ caller, body, origin }) => {
        orThrow(await screenLock.unlock(caller, body.passcode, origin));
        return { locked: false };
      },
    );
  };
