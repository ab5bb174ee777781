import type { CommandEnd, CommandRun } from '../../../domain/containers/command-run.ts';

/** Records of commands that can be resumed, by the SHA-256 of their names. */
export interface CommandRunRepository {
  /** Call it before the command starts; a name may be used again. */
  begin(nameHash: Buffer, replica: string): Promise<void>;
  /** Call it once, before its client learns of the end. */
  end(nameHash: Buffer, end: CommandEnd): Promise<void>;
  /** One that did not start. */
  forget(nameHash: Buffer): Promise<void>;
  find(nameHash: Buffer): Promise<CommandRun | null>;
  /** Forgets those that ended ten minutes ago, or began seven days ago. */
  sweep(): Promise<void>;
}
