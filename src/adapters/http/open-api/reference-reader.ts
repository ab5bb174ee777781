/**
 * A script of the API reference. `asReader` adds the session of the app in this browser to a request, unless the reader
 * has entered a credential. It renews the session as a tab of the app does (`web/src/session/session.ts`), with the same
 * lock, messages and times.
 */
export const READER = `const tabs = new BroadcastChannel('berth.session');
const HINT = 'berth.signed_in';
let login = null;
let renewAtMs = 0;
const keep = (signedIn) => {
  login = signedIn;
  const left = Date.parse(login.expires_at) - Date.now() - 60_000;
  renewAtMs = performance.now() + (Number.isNaN(left) ? 30_000 : Math.min(14 * 60_000, Math.max(30_000, left)));
};
tabs.addEventListener('message', ({ data }) => {
  if (data.type === 'signed_in') keep(data.login);
  if (data.type === 'signed_out') login = null;
});
const goodToken = () => (login !== null && performance.now() < renewAtMs ? login.token : null);
const mayBeSignedIn = () => {
  try {
    return localStorage.getItem(HINT) === 'yes';
  } catch {
    return false;
  }
};
const forget = (ended) => {
  login = null;
  localStorage.setItem(HINT, 'no');
  if (ended !== null) tabs.postMessage({ type: 'signed_out', ended });
};
const renew = async () => {
  if (goodToken() !== null) return;
  const answer = await fetch('/api/auth/refresh', { method: 'POST' });
  if (answer.ok) {
    keep(await answer.json());
    tabs.postMessage({ type: 'signed_in', login });
    return;
  }
  const { error = answer.status, reason = null } = await answer.json().catch(() => ({}));
  if (answer.status !== 401) throw new Error(\`The session was not renewed: \${error}\`);
  forget(reason);
};
const tokenNow = async () => {
  if (!mayBeSignedIn()) return null;
  if (goodToken() === null) await (navigator.locks ? navigator.locks.request('berth.refresh', renew) : renew());
  return goodToken();
};
const sendWith = (token, url, request) =>
  fetch(url, { ...request, headers: { ...request.headers, Authorization: \`Bearer \${token}\` } });
const send = async (url, request) => {
  const token = await tokenNow();
  if (token === null) return await fetch(url, request);
  const answer = await sendWith(token, url, request);
  if (answer.status !== 401) return answer;
  if (login !== null && login.token === token) renewAtMs = 0;
  const other = await tokenNow();
  return other === null ? answer : await sendWith(other, url, request);
};
globalThis.asReader = async (request) =>
  request.loadSpec || request.headers.Authorization ? request : { ...request, userFetch: send };
`;
