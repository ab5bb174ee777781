import type { Announcement, AnnouncementDraft } from '../../domain/service/announcement.ts';

export interface AnnouncementRepository {
  /** All, the latest start first. */
  list(): Promise<readonly Announcement[]>;
  /** Locks it; null when there is none. */
  findForUpdate(id: string): Promise<Announcement | null>;
  /** null when `most` are stored already, however many are added at the same time. In a transaction. */
  insert(draft: AnnouncementDraft, most: number): Promise<Announcement | null>;
  /** null when it is gone. */
  update(id: string, draft: AnnouncementDraft): Promise<Announcement | null>;
  /** Whether it existed. */
  delete(id: string): Promise<boolean>;
}
