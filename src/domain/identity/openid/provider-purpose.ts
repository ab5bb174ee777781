/**
 * A sign-in at an OpenID provider:
 *
 *   started --the provider sends the browser back--> arrived --the page fetches it--> finished
 *
 * Each step works once, within minutes, and in the browser that started it.
 */
export type ProviderPurpose = 'sign_in' | 'invitation' | 'link' | 'confirm';
