import {
  type CatalogueKind,
  type Image,
  imageFaults,
  NEEDED,
  type Role,
  roleFaults,
  tierFaults,
} from '../../domain/containers/catalogue.ts';
import type { Tier } from '../../domain/containers/resources.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { CatalogueEditing, CatalogueEdits } from '../../ports/containers/catalogue-repository.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import { orRollBack } from '../transaction.ts';

export type CatalogueAdmin = ReturnType<typeof catalogueAdmin>;
export type EntryAdmin<T> = ReturnType<typeof entries<T>>;

/** Tiers, images and roles, for administrators; the route's scope checks that. */
export const catalogueAdmin = (storage: Storage) => ({
  tiers: entries<Tier>(storage, 'tier', tierFaults),
  images: entries<Image>(storage, 'image', imageFaults),
  roles: entries<Role>(storage, 'role', roleFaults),
});

/** Entries of one kind. Existing containers keep the image, tools and limits that they were made with. */
function entries<T>({ inTransaction }: Storage, kind: CatalogueKind, faults: (entry: T) => FieldFaults) {
  // the compiler cannot see that `kind` determines T
  const edits = ({ catalogue }: Repositories): CatalogueEdits<T> =>
    catalogue.editing[kind] as CatalogueEditing[CatalogueKind] as unknown as CatalogueEdits<T>;
  const record = (
    tx: Repositories,
    caller: Caller,
    origin: RequestOrigin,
    what: Happening,
    details: object,
  ) =>
    tx.audit.append({
      userId: caller.user.id,
      action: `${kind}_${what}`,
      details: JSON.stringify(details),
      ...origin,
    });
  const notFound = () => refuse({ code: `${kind}_not_found` } as const);

  return {
    create: (entry: T, caller: Caller, origin: RequestOrigin): AsyncResult<T> =>
      orRollBack(inTransaction, async (tx) => {
        const checked = valid(entry, faults);
        if (!checked.ok) return checked;
        if (!(await edits(tx).insert(entry))) return refuse({ code: 'catalogue_key_taken' });
        await record(tx, caller, origin, 'created', entry as object);
        return checked;
      }),

    /** Absent fields stay. */
    change: (key: string, change: Partial<T>, caller: Caller, origin: RequestOrigin): AsyncResult<T> =>
      orRollBack(inTransaction, async (tx) => {
        const before = await edits(tx).findForUpdate(key);
        if (before === null) return notFound();
        const checked = valid({ ...before, ...change }, faults);
        if (!checked.ok) return checked;
        if (JSON.stringify(checked.value) === JSON.stringify(before)) return checked;
        await edits(tx).replace(checked.value);
        await record(tx, caller, origin, 'updated', { key, ...change });
        return checked;
      }),

    /** Refuses used and required entries. Returns the removed one. */
    remove: (key: string, caller: Caller, origin: RequestOrigin): AsyncResult<T> =>
      orRollBack(inTransaction, async (tx) => {
        const before = await edits(tx).findForUpdate(key);
        if (before === null) return notFound();
        if (NEEDED[kind].includes(key)) return refuse({ code: 'catalogue_entry_needed' });
        if (await edits(tx).isUsed(key)) return refuse({ code: 'catalogue_entry_in_use' });
        await edits(tx).remove(key);
        await record(tx, caller, origin, 'deleted', { key });
        return ok(before);
      }),
  };
}

type Happening = 'created' | 'updated' | 'deleted';

function valid<T>(entry: T, faults: (entry: T) => FieldFaults): Result<T, DomainError> {
  const fields = faults(entry);
  return Object.keys(fields).length === 0 ? ok(entry) : refuse({ code: 'validation_failed', fields });
}
