import type { DomainError } from '../../domain/errors.ts';
import { type AnnouncementStatus, announcementEvent } from '../../domain/events.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import {
  type Announcement,
  type AnnouncementDraft,
  announcementFaults,
  announcementState,
  isSameDraft,
  MAX_ANNOUNCEMENTS,
} from '../../domain/service/announcement.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import { orRollBack } from '../transaction.ts';

export type Announcements = ReturnType<typeof announcements>;

/** A new announcement; fields that are absent get defaults. */
export type NewAnnouncement = Pick<AnnouncementDraft, 'text'> & Partial<AnnouncementDraft>;

/** Announcements of administrators to everybody. The routes' scopes check the rights. */
export function announcements(storage: Storage, clock: Clock) {
  const { repositories, inTransaction } = storage;

  return {
    /** Those that everybody sees now, the latest start first. */
    async current(): Promise<readonly Announcement[]> {
      const now = clock.now();
      const all = await repositories.announcements.list();
      return all.filter((one) => announcementState(one, now) === 'current');
    },

    /** Scheduled and ended ones too. */
    list: (): Promise<readonly Announcement[]> => repositories.announcements.list(),

    /** It is shown from now on, unless it says otherwise. */
    async create(given: NewAnnouncement, caller: Caller, origin: RequestOrigin): AsyncResult<Announcement> {
      const draft = checked({ severity: 'info', startsAt: clock.now(), endsAt: null, ...given });
      if (!draft.ok) return draft;
      return await inTransaction(async (tx) => {
        const made = await tx.announcements.insert(draft.value, MAX_ANNOUNCEMENTS);
        if (made === null) return refuse({ code: 'announcement_limit_reached', max: MAX_ANNOUNCEMENTS });
        await record(tx, { announcement: made, status: 'created', now: clock.now() }, caller, origin);
        return ok(made);
      });
    },

    /** A change shows it again to those who dismissed it. */
    change: (
      id: string,
      given: Partial<AnnouncementDraft>,
      caller: Caller,
      origin: RequestOrigin,
    ): AsyncResult<Announcement> =>
      orRollBack(inTransaction, async (tx) => {
        const found = isUuid(id) ? await tx.announcements.findForUpdate(id) : null;
        if (found === null) return refuse({ code: 'announcement_not_found' });
        const draft = checked({ ...found, ...given });
        if (!draft.ok || isSameDraft(found, draft.value)) return draft.ok ? ok(found) : draft;
        const changed = await tx.announcements.update(id, draft.value);
        if (changed === null) return refuse({ code: 'announcement_not_found' });
        await record(tx, { announcement: changed, status: 'updated', now: clock.now() }, caller, origin);
        return ok(changed);
      }),

    delete: (id: string, caller: Caller, origin: RequestOrigin): AsyncResult<null> =>
      orRollBack(inTransaction, async (tx) => {
        const found = isUuid(id) ? await tx.announcements.findForUpdate(id) : null;
        if (found === null || !(await tx.announcements.delete(id)))
          return refuse({ code: 'announcement_not_found' });
        await record(tx, { announcement: found, status: 'deleted', now: clock.now() }, caller, origin);
        return ok(null);
      }),
  };
}

function checked(given: AnnouncementDraft): Result<AnnouncementDraft, DomainError> {
  const draft = { ...given, text: given.text.trim() };
  const fields = announcementFaults(draft);
  return Object.keys(fields).length > 0 ? refuse({ code: 'validation_failed', fields }) : ok(draft);
}

type Change = {
  readonly announcement: Announcement;
  readonly status: AnnouncementStatus;
  readonly now: Date;
};

async function record(
  tx: Repositories,
  { announcement, status, now }: Change,
  { user }: Caller,
  origin: RequestOrigin,
): Promise<void> {
  const { id, text, severity } = announcement;
  const details = JSON.stringify({ id, text, severity });
  await tx.audit.append({ userId: user.id, action: `announcement_${status}`, ...origin, details });
  await tx.events.append(announcementEvent(announcement, status, now));
}
