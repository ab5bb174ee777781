import type { SettingsService } from '../../../../app/settings.ts';
import type { Settings } from '../../../../domain/settings.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import { SettingsBody, SettingsChange } from '../../schema/service/service.ts';
import type { Routes } from '../../server.ts';

export const settingsRoutes =
  (settings: SettingsService): Routes =>
  (http) => {
    http.get(
      '/api/admin/settings',
      operation('adminSettings.read', 'Read the settings', {
        config: { scope: 'admin' },
        response: { 200: SettingsBody },
      }),
      async () => toBody(await settings.read()),
    );

    http.patch(
      '/api/admin/settings',
      operation('adminSettings.update', 'Change settings', {
        config: { scope: 'admin' },
        body: SettingsChange,
        response: { 200: SettingsBody },
      }),
      async (request) =>
        toBody(orThrow(await settings.change(toChanges(request.body), request.caller, request.origin))),
    );
  };

const toBody = (settings: Settings): SettingsBody => ({
  open_registration: settings.openRegistration,
  session_idle_minutes: settings.sessionIdleMinutes,
  guests_enabled: settings.guestsEnabled,
  guest_lifetime_hours: settings.guestLifetimeHours,
  requests_per_minute: settings.requestsPerMinute,
  retention_days: settings.retentionDays,
  history_days: settings.historyDays,
  recordings_mb_per_user: settings.recordingsMbPerUser,
  sockets_per_address: settings.socketsPerAddress,
  oidc_create_accounts: settings.oidcCreateAccounts,
  oidc_tier: settings.oidcTier,
  oidc_match_by_email: settings.oidcMatchByEmail,
});

const toChanges = (body: SettingsChange): Partial<Settings> => ({
  ...(body.open_registration === undefined ? {} : { openRegistration: body.open_registration }),
  ...(body.session_idle_minutes === undefined ? {} : { sessionIdleMinutes: body.session_idle_minutes }),
  ...(body.guests_enabled === undefined ? {} : { guestsEnabled: body.guests_enabled }),
  ...(body.guest_lifetime_hours === undefined ? {} : { guestLifetimeHours: body.guest_lifetime_hours }),
  ...(body.requests_per_minute === undefined ? {} : { requestsPerMinute: body.requests_per_minute }),
  ...(body.retention_days === undefined ? {} : { retentionDays: body.retention_days }),
  ...(body.history_days === undefined ? {} : { historyDays: body.history_days }),
  ...(body.recordings_mb_per_user === undefined ? {} : { recordingsMbPerUser: body.recordings_mb_per_user }),
  ...(body.sockets_per_address === undefined ? {} : { socketsPerAddress: body.sockets_per_address }),
  ...(body.oidc_create_accounts === undefined ? {} : { oidcCreateAccounts: body.oidc_create_accounts }),
  ...(body.oidc_tier === undefined ? {} : { oidcTier: body.oidc_tier }),
  ...(body.oidc_match_by_email === undefined ? {} : { oidcMatchByEmail: body.oidc_match_by_email }),
});
