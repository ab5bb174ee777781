/** Of the service itself. */
import type { Generated } from 'kysely';
import type { Severity } from '../../../domain/service/announcement.ts';
import type { Defaulted } from './column-types.ts';

export type AnnouncementsTable = {
  id: Generated<string>;
  text: string;
  severity: Severity;
  starts_at: Date;
  ends_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Defaulted<Date>;
};
