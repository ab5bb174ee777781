import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, OneOf, Text, Time, Timestamp } from '../common.ts';

const SeverityName = OneOf(['info', 'warning']);
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

export const AnnouncementBody = NamedObject('Announcement', shown);

export const AnnouncementList = NamedObject('AnnouncementList', {
  announcements: Type.Array(AnnouncementBody),
});

export const AdminAnnouncementBody = NamedObject('AdminAnnouncement', {
  ...shown,
  created_at: Timestamp,
  state: OneOf(['scheduled', 'current', 'ended']),
});

export const AdminAnnouncementList = NamedObject('AdminAnnouncementList', {
  announcements: Type.Array(AdminAnnouncementBody),
});

export const NewAnnouncementRequest = NamedClosed('NewAnnouncementRequest', {
  text: Notice,
  severity: Type.Optional(SeverityName),
  /** Now, if absent. */
  starts_at: Type.Optional(Time),
  /** null, or absent: until it is deleted. */
  ends_at: Type.Optional(Nullable(Time)),
});

export const AnnouncementChangeRequest = NamedClosed('AnnouncementChangeRequest', {
  text: Type.Optional(Notice),
  severity: Type.Optional(SeverityName),
  starts_at: Type.Optional(Time),
  ends_at: Type.Optional(Nullable(Time)),
});

export const AnnouncementDeletedBody = NamedObject('AnnouncementDeleted', {
  id: Type.String(),
  deleted: Type.Literal(true),
});

export type AnnouncementBody = Static<typeof AnnouncementBody>;
export type AdminAnnouncementBody = Static<typeof AdminAnnouncementBody>;
export type AnnouncementChangeRequest = Static<typeof AnnouncementChangeRequest>;
