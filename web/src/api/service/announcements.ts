import type {
  AdminAnnouncementBody,
  AnnouncementBody,
  AnnouncementChangeRequest,
} from '../../../../src/adapters/http/schema/service/announcements.ts';
import { del, getList, patch, post, under } from '../calls.ts';

export type Announcement = AnnouncementBody;
export type AdminAnnouncement = AdminAnnouncementBody;
export type AnnouncementFields = Required<AnnouncementChangeRequest>;

const ALL = '/api/admin/announcements';

/** Those that everybody sees now. */
export const currentAnnouncements = () => getList<Announcement>('/api/announcements', 'announcements');

/** Scheduled and ended ones too. */
export const listAnnouncements = () => getList<AdminAnnouncement>(ALL, 'announcements');

export const announce = (body: Partial<AnnouncementFields>) => post<AdminAnnouncement>(ALL, body);

export const changeAnnouncement = (id: string, body: AnnouncementChangeRequest) =>
  patch<AdminAnnouncement>(under(ALL, id), body);

export const deleteAnnouncement = (id: string) => del(under(ALL, id));
