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
  /** Newest first; of one container when it is named. */
  page(userId: string, dbId: string | null, request: PageRequest): Promise<Page<Recording>>;
  /** What all recordings of the user count for (`countedBytes`). */
  usedBytes(userId: string): Promise<number>;
  /** Notes how far one has come; false when it is not going on any more, or is gone. */
  progress(id: string, userId: string, facts: CastFacts): Promise<boolean>;
  /** Ends one that goes on; null when it has ended already, or is gone. */
  end(id: string, userId: string, end: RecordingEnd): Promise<Recording | null>;
  /** Those of a container that go on, whoever makes them. */
  activeIn(dbId: string): Promise<readonly Recording[]>;
  /** The one that is gone; null when it was not the user's. */
  remove(id: string, userId: string): Promise<Recording | null>;
  /** Those that go on by their row, but of which nothing was heard for so long; of one process when it is named. */
  silent(forSeconds: number, replica: string | null): Promise<readonly Recording[]>;
  /** Which of these there are. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
}
