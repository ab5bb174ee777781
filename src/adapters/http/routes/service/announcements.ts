import type { Announcements } from '../../../../app/service/announcements.ts';
import {
  type Announcement,
  type AnnouncementDraft,
  announcementState,
} from '../../../../domain/service/announcement.ts';
import type { Clock } from '../../../../ports/clock.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import { timesOf } from '../../pagination.ts';
import { bodyOf, fieldsOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/service/announcements.ts';
import type { Routes } from '../../server.ts';

export type AnnouncementRouteDeps = { readonly announcements: Announcements; readonly clock: Clock };

const LIST = 'failed to list announcements';

export const announcementRoutes =
  (deps: AnnouncementRouteDeps): Routes =>
  (http, tokens) => {
    http.get(
      '/api/announcements',
      operation('announcements.list', 'List the present announcements', {
        config: { scope: 'read', failure: LIST },
        response: { 200: schema.AnnouncementList },
      }),
      async () => ({ announcements: (await deps.announcements.current()).map(serializeAnnouncement) }),
    );
    creationRoutes(deps)(http, tokens);
    changeRoutes(deps)(http, tokens);
  };

const adminBodyAt = (clock: Clock) => (announcement: Announcement) =>
  serializeForAdmins({ ...announcement, state: announcementState(announcement, clock.now()) });

const creationRoutes =
  ({ announcements, clock }: AnnouncementRouteDeps): Routes =>
  (http) => {
    const toAdminBody = adminBodyAt(clock);

    http.get(
      '/api/admin/announcements',
      operation('adminAnnouncements.list', 'List all announcements', {
        config: { scope: 'admin', failure: LIST },
        response: { 200: schema.AdminAnnouncementList },
      }),
      async () => ({ announcements: (await announcements.list()).map(toAdminBody) }),
    );

    http.post(
      '/api/admin/announcements',
      operation('adminAnnouncements.create', 'Show an announcement to everybody', {
        config: { scope: 'admin', failure: 'failed to create announcement' },
        refusals: ['announcement_limit_reached'],
        body: schema.NewAnnouncementRequest,
        response: { 201: schema.AdminAnnouncementBody },
      }),
      async ({ body, caller, origin }, reply) => {
        const draft = { ...toChange(body), text: body.text };
        const made = orThrow(await announcements.create(draft, caller, origin));
        return reply.code(201).send(toAdminBody(made));
      },
    );
  };

const changeRoutes =
  ({ announcements, clock }: AnnouncementRouteDeps): Routes =>
  (http) => {
    const toAdminBody = adminBodyAt(clock);

    http.patch(
      '/api/admin/announcements/:id',
      operation('adminAnnouncements.update', 'Change an announcement', {
        config: { scope: 'admin', failure: 'failed to update announcement' },
        refusals: ['announcement_not_found'],
        params: IdParams,
        body: schema.AnnouncementChangeRequest,
        response: { 200: schema.AdminAnnouncementBody },
      }),
      async ({ params: { id }, body, caller, origin }) =>
        toAdminBody(orThrow(await announcements.change(id, toChange(body), caller, origin))),
    );

    http.delete(
      '/api/admin/announcements/:id',
      operation('adminAnnouncements.delete', 'Delete an announcement', {
        config: { scope: 'admin', failure: 'failed to delete announcement' },
        refusals: ['announcement_not_found'],
        params: IdParams,
        response: { 200: schema.AnnouncementDeletedBody },
      }),
      async ({ params: { id }, caller, origin }) => {
        orThrow(await announcements.delete(id, caller, origin));
        return { id, deleted: true as const };
      },
    );
  };

/** The given fields alone; throws for an invalid time. */
function toChange(body: schema.AnnouncementChangeRequest): Partial<AnnouncementDraft> {
  const { starts_at, ends_at, ...fields } = body;
  const times = timesOf(
    {
      ...(starts_at === undefined ? {} : { starts_at }),
      ...(ends_at == null ? {} : { ends_at }),
    },
    ['starts_at', 'ends_at'],
  );
  return { ...fields, ...fieldsOf(times), ...(ends_at === null ? { endsAt: null } : {}) };
}

const serializeAnnouncement = bodyOf(schema.AnnouncementBody);
const serializeForAdmins = bodyOf(schema.AdminAnnouncementBody);
