/** How long an enrolment code can be used. */
export const CODE_LIVES_SECONDS = 900;
/** Unused enrolment codes per user. */
export const MAX_ENROLMENT_CODES = 20;
