import type { SettingsService } from '../../../../app/settings.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf, fieldsOf } from '../../replies/bodies.ts';
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
      async () => serializeSettings(await settings.read()),
    );

    http.patch(
      '/api/admin/settings',
      operation('adminSettings.update', 'Change settings', {
        config: { scope: 'admin' },
        body: SettingsChange,
        response: { 200: SettingsBody },
      }),
      async (request) =>
        serializeSettings(
          orThrow(await settings.change(fieldsOf(request.body), request.caller, request.origin)),
        ),
    );
  };

const serializeSettings = bodyOf(SettingsBody);
