import type { DeviceSignIns } from '../../../../app/identity/sign-in/device-sign-in.ts';
import { type DeviceSignIn, POLL_SECONDS } from '../../../../domain/identity/device-sign-in.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { bodyOf } from '../../replies/bodies.ts';
import * as schema from '../../schema/identity/sign-in.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { signedInAnswer } from './sign-in-reply.ts';

const publicly = { scope: 'public' } as const;
const config = { scope: 'login' } as const;

export type DeviceRouteDeps = {
  readonly deviceSignIns: DeviceSignIns;
  readonly secureCookie: boolean;
  /** Where browsers reach the page that asks for the code. */
  readonly publicUrl: () => string;
};

/** Signing a program in by a code, as in RFC 8628. No cookie decides anything here, so no other site can confirm. */
export const deviceSignInRoutes = (deps: DeviceRouteDeps): Routes =>
  joinRoutes(programRoutes(deps), confirmRoutes(deps));

const programRoutes =
  ({ deviceSignIns, secureCookie, publicUrl }: DeviceRouteDeps): Routes =>
  (http, tokens) => {
    const answer = signedInAnswer(tokens, secureCookie);

    http.post(
      '/api/auth/device',
      operation('auth.startDevice', 'Start to sign a program in by a code', {
        config: publicly,
        body: schema.DeviceRequest,
        response: { 201: schema.DeviceStartedBody },
      }),
      async (request, reply) => {
        const started = orThrow(await deviceSignIns.start(request.body.machine, request.origin));
        const page = `${publicUrl()}/device`;
        return reply.code(201).send({
          device_code: started.deviceCode,
          user_code: started.userCode,
          verification_url: page,
          // behind #: browsers do not send it, and no log has it
          verification_url_complete: `${page}#code=${started.userCode}`,
          expires_at: started.expiresAt.toISOString(),
          interval_seconds: POLL_SECONDS,
        });
      },
    );

    http.post(
      '/api/auth/device/token',
      operation('auth.pollDevice', 'Fetch the session once the code is approved', {
        config: publicly,
        refusals: ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'],
        body: schema.DevicePoll,
        response: { 200: schema.SignedInBody },
      }),
      async (request, reply) =>
        answer(reply, orThrow(await deviceSignIns.poll(request.body.device_code, request.origin))),
    );
  };

const confirmRoutes =
  ({ deviceSignIns }: DeviceRouteDeps): Routes =>
  (http) => {
    http.post(
      '/api/auth/device/find',
      operation('auth.findDevice', 'Read which program shows a code', {
        config,
        refusals: ['device_code_not_found'],
        body: schema.DeviceCodeRequest,
        response: { 200: schema.DeviceBody },
      }),
      async ({ body, caller, origin }) =>
        toBody(orThrow(await deviceSignIns.find(body.user_code, caller, origin))),
    );

    http.post(
      '/api/auth/device/approve',
      operation('auth.approveDevice', 'Sign the program in that shows a code', {
        config,
        refusals: [...refusals.CONFIRMATION, 'device_code_not_found'],
        body: schema.DeviceApproval,
        response: { 200: schema.DeviceApprovedBody },
      }),
      async ({ body: { user_code, ...given }, caller, origin }) => {
        orThrow(await deviceSignIns.approve(user_code, caller, given, origin));
        return { approved: true as const };
      },
    );

    http.post(
      '/api/auth/device/deny',
      operation('auth.denyDevice', 'Refuse the program that shows a code', {
        config,
        refusals: ['device_code_not_found'],
        body: schema.DeviceCodeRequest,
        response: { 200: schema.DeviceDeniedBody },
      }),
      async ({ body, caller, origin }) => {
        orThrow(await deviceSignIns.deny(body.user_code, caller, origin));
        return { denied: true as const };
      },
    );
  };

const serializeSignIn = bodyOf(schema.DeviceBody);

const toBody = ({ origin, ...signIn }: DeviceSignIn) => serializeSignIn({ ...signIn, ...origin });
