import type { CastFacts, Recording, RecordingState } from '../../domain/terminals/recording.ts';
import type { Page, PageRequest } from '../pagination.ts';

export type NewRecording = Pick<
  Recording,
  'id' | 'userId' | 'dbId' | 'containerName' | 'connectionId' | 'cols' | 'rows' | 'replica'
>;

export type RecordingEnd = CastFacts & { readonly state: Exclude<RecordingState, 'recording'> };

export interface RecordingRepository {
  insert(recording: NewRecording): Promise<Recording>;
  find(id: string, userId: string): Promise<Recording | null>;
  /** Newest first; of one container if named. */
  page(userId: string, dbIds: readonly string[] | null, request: PageRequest): Promise<Page<Recording>>;
  /** What the user's recordings count (`countedBytes`). */
  usedBytes(userId: string): Promise<number>;
  /** Records progress; false when it has ended or is gone. */
  progress(id: string, userId: string, facts: CastFacts): Promise<boolean>;
  /** Ends a running one; null when it has ended or is gone. */
  end(id: string, userId: string, end: RecordingEnd): Promise<Recording | null>;
  /** The running ones of a container, of any user. */
  activeIn(dbId: string): Promise<readonly Recording[]>;
  /** Returns the removed one; null when it was not the user's. */
  remove(id: string, userId: string): Promise<Recording | null>;
  /** Running ones without progress for this long; of one process if named. */
  silent(forSeconds: number, replica: string | null): Promise<readonly Recording[]>;
  /** The existing ones of these. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
}
