import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../common.ts';

const SeverityName = Type.Union([Type.Literal('info'), Type.Literal('warning')]);
const Time = Type.String({ maxLength: 40, description: 'ISO 8601 with a time zone' });
/** Roomier than the limit of 500, whose refusal names it: what counts are the trimmed characters. */
const Notice = Text({ maxLength: 2_000 });

const shown = {
  id: Type.String(),
  text: Type.String({ description: 'One line of plain text.' }),
  severity: SeverityName,
  starts_at: Timestamp,
  ends_at: Nullable(Timestamp),
  updated_at: Timestamp,
};

export const AnnouncementBody = Named('Announcement', Type.Object(shown));

export const AnnouncementList = Named(
  'AnnouncementList',
  Type.Object({ announcements: Type.Array(AnnouncementBody) }),
);

export const AdminAnnouncementBody = Named(
  'AdminAnnouncement',
  Type.Object({
    ...shown,
    created_at: Timestamp,
    state: Type.Union([Type.Literal('scheduled'), Type.Literal('current'), Type.Literal('ended')]),
  }),
);

export const AdminAnnouncementList = Named(
  'AdminAnnouncementList',
  Type.Object({ announcements: Type.Array(AdminAnnouncementBody) }),
);

export const NewAnnouncementRequest = Named(
  'NewAnnouncementRequest',
  Closed({
    text: Notice,
    severity: Type.Optional(SeverityName),
    /** Now, if absent. */
    starts_at: Type.Optional(Time),
    /** null, or absent: until it is deleted. */
    ends_at: Type.Optional(Nullable(Time)),
  }),
);

export const AnnouncementChangeRequest = Named(
  'AnnouncementChangeRequest',
  Closed({
    text: Type.Optional(Notice),
    severity: Type.Optional(SeverityName),
    starts_at: Type.Optional(Time),
    ends_at: Type.Optional(Nullable(Time)),
  }),
);

export const AnnouncementDeletedBody = Named(
  'AnnouncementDeleted',
  Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
);

export type AnnouncementBody = Static<typeof AnnouncementBody>;
export type AdminAnnouncementBody = Static<typeof AdminAnnouncementBody>;
export type AnnouncementChangeRequest = Static<typeof AnnouncementChangeRequest>;
