/** How long an enrolment code can be used. */
export const CODE_LIFE_SECONDS = 900;
/** Unused enrolment codes per user. */
export const MAX_ENROLMENT_CODES = 20;
