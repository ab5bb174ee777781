export type Participation = { readonly collaborationId: string; readonly userId: string };

export interface ParticipationRepository {
  /** Counts from now on: earlier events, and those during an absence, are not visible. Repeating it succeeds. */
  admit(participation: Participation): Promise<void>;
  dismiss(participation: Participation): Promise<void>;
  /** Dismisses for good: adds the user to the collaboration's removed ones. */
  putOut(participation: Participation): Promise<void>;
  /** The active ones of these. */
  stillActive(participations: readonly Participation[]): Promise<readonly Participation[]>;
}
