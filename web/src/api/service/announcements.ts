import type {
  AnnouncementBody,
  AnnouncementChangeRequest,
  WholeAnnouncementBody,
} from '../../../../src/adapters/http/schema/service/announcements.ts';
import { del, getList, patch, post, under } from '../calls.ts';

export type Announcement = AnnouncementBody;
export type WholeAnnouncement = WholeAnnouncementBody;
export type AnnouncementFields = Required<AnnouncementChangeRequest>;

const ALL = '/api/admin/announcements';

/** Those that everybody sees now. */
export const currentAnnouncements = () => getList<Announcement>('/api/announcements', 'announcements');

/** Scheduled and ended ones too. */
export const listAnnouncements = () => getList<WholeAnnouncement>(ALL, 'announcements');

export const announce = (body: Partial<AnnouncementFields>) => post<WholeAnnouncement>(ALL, body);

export const changeAnnouncement = (id: string, body: AnnouncementChangeRequest) =>
  patch<WholeAnnouncement>(under(ALL, id), body);

export const deleteAnnouncement = (id: string) => del(under(ALL, id));
