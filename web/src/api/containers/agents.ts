import { post } from '../calls.ts';
import type { Enrolment } from '../types.ts';

/** A one-time code for a new agent. */
export const createEnrolment = () => post<Enrolment>('/api/agents/enrolments');
