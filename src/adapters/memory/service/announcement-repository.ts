import { randomUUID } from 'node:crypto';
import type { Announcement } from '../../../domain/service/announcement.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { AnnouncementRepository } from '../../../ports/service/announcement-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryAnnouncements(state: MemoryState, clock: Clock): AnnouncementRepository {
  const find = (id: string): Announcement | null => state.announcements.find((one) => one.id === id) ?? null;
  return {
    list: async () =>
      state.announcements.toSorted(
        (a, b) => b.startsAt.getTime() - a.startsAt.getTime() || (a.id < b.id ? -1 : 1),
      ),

    findForUpdate: async (id) => find(id),

    async insert(draft, most) {
      if (state.announcements.length >= most) return null;
      const now = clock.now();
      const announcement = { ...draft, id: randomUUID(), createdAt: now, updatedAt: now };
      state.announcements.push(announcement);
      return announcement;
    },

    async update(id, draft) {
      const found = find(id);
      if (found === null) return null;
      const changed = { ...found, ...draft, updatedAt: clock.now() };
      state.announcements = state.announcements.map((one) => (one === found ? changed : one));
      return changed;
    },

    async delete(id) {
      const found = find(id);
      state.announcements = state.announcements.filter((one) => one !== found);
      return found !== null;
    },
  };
}
