import type { Passwords } from '../../../../app/identity/account/password.ts';
import type { Profile, Profiles } from '../../../../app/identity/account/profile.ts';
import type { RequireRecentSignIn } from '../../../../app/identity/sign-in/reauthentication.ts';
import type { UseLimits } from '../../../../domain/identity/use-limits.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { bodyOf, fieldsOf } from '../../replies/bodies.ts';
import { ConfirmationRequest, ConfirmedBody } from '../../schema/identity/second-factor.ts';
import * as schema from '../../schema/identity/sign-in.ts';
import { joinRoutes, type Routes } from '../../server.ts';

export type MeRouteDeps = {
  readonly profiles: Profiles;
  readonly passwords: Passwords;
  readonly confirmed: RequireRecentSignIn;
};

export const meRoutes = (deps: MeRouteDeps): Routes => joinRoutes(profileRoutes(deps), proofRoutes(deps));

const profileRoutes =
  ({ profiles }: MeRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/me',
      operation('account.read', 'Read your profile', {
        config: { scope: 'read', whileLocked: true },
        response: { 200: schema.MeBody },
      }),
      async ({ caller, limits }) => toBody(await profiles.read(caller), limits),
    );

    http.patch(
      '/api/me',
      operation('account.update', 'Change your profile', {
        config: { scope: 'write', shutAfterReset: true },
        refusals: ['login_token_required'],
        body: schema.MeChange,
        response: { 200: schema.MeBody },
      }),
      async ({ caller, body, origin, limits }) =>
        toBody(orThrow(await profiles.change(fieldsOf(body), caller, origin)), limits),
    );
  };

const proofRoutes =
  ({ passwords, confirmed }: MeRouteDeps): Routes =>
  (http) => {
    // Lets a page check a proof before it shows its next step.
    http.post(
      '/api/me/confirm',
      operation('account.confirm', 'Confirm that it is you', {
        config: { scope: 'login' },
        refusals: [...refusals.CONFIRMATION],
        body: ConfirmationRequest,
        response: { 200: ConfirmedBody },
      }),
      async ({ caller, body, origin }) => {
        orThrow(await confirmed(caller, body, origin));
        return { confirmed: true as const };
      },
    );

    http.post(
      '/api/me/password',
      operation('account.changePassword', 'Change your password, or set the first one', {
        config: { scope: 'login' },
        refusals: [...refusals.CONFIRMATION],
        body: schema.PasswordChange,
        response: { 200: schema.PasswordChangedBody },
      }),
      async ({ caller, body, origin }) => {
        const { old_password: old, new_password: wanted, code } = body;
        orThrow(await passwords.change(caller, { old, wanted, code }, origin));
        return { changed: true };
      },
    );
  };

const serializeProfile = bodyOf(schema.MeBody);

const toBody = ({ user, ...profile }: Profile, limits: UseLimits) =>
  serializeProfile({ ...user, ...profile, limits });
