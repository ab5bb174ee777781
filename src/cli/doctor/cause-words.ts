/** Causes of a request without an answer, by their code. */
const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no machine has this name: check the address, or your DNS',
  EAI_AGAIN: 'the name could not be looked up: check your network',
  ECONNREFUSED: 'nothing listens there: check the port, or start the server',
  ECONNRESET: 'the connection was cut: a firewall or proxy may be in between',
  EHOSTUNREACH: 'the machine cannot be reached: check your network',
  ENETUNREACH: 'the machine cannot be reached: check your network',
  ETIMEDOUT: 'no answer in time: a firewall may be in between',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time: a firewall may be in between',
  CERT_HAS_EXPIRED: 'the certificate has expired: its administrator must renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the certificate's authority is not trusted: set NODE_EXTRA_CA_CERTS to its certificate",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the certificate's authority is not trusted: set NODE_EXTRA_CA_CERTS to its certificate",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the certificate's chain is incomplete: its administrator must complete it",
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name: check the address',
  EPROTO: 'it does not speak TLS: try http://',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: try http://',
};

/** The innermost cause in words, since fetch only says that it failed. */
export function causeWords(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    const words = code === undefined ? undefined : WORDS[code];
    if (words !== undefined) return words;
    const first = at instanceof AggregateError ? at.errors[0] : undefined;
    if (first !== undefined) return causeWords(first);
    if (at.cause === undefined) return at.message;
  }
  return 'no answer';
}
