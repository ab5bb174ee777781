import t from 'tap';
import { aFolder } from '../../support/folder.ts';
import { aServer, copyCheckout, put, type Server } from '../../support/install/server.ts';
import { waitFor } from '../../support/patience.ts';

const NAME = 'berth.example.org';
const CERTIFICATES = `/etc/letsencrypt/live/${NAME}`;
/** A database and a build from an empty cache, on a busy machine. */
const START_MS = 300_000;

/** An administrator, and no engine: nothing here needs a container. */
const SETTINGS = `BERTH_PUBLIC_URL=https://${NAME}
BERTH_TRUST_PROXY=127.0.0.1,::1
BERTH_ENGINE=external
BERTH_ADMIN_EMAIL=ada@${NAME}
BERTH_ADMIN_PASSWORD=correct-horse-battery
`;

type Proxy = {
  /** The service of systemd. */
  readonly name: string;
  /** Installs the configuration of the docs, with a certificate of an authority of its own. */
  readonly configure: string;
  /** Says what is wrong with the configuration. */
  readonly validate: string;
  /** The certificate of that authority. */
  readonly authority: string;
};

const PROXIES: readonly Proxy[] = [
  {
    name: 'caddy',
    configure: `(echo '{ local_certs }' | tr ' ' '\\n'; cat docs/deploy/Caddyfile) > /etc/caddy/Caddyfile`,
    validate: 'caddy validate --config /etc/caddy/Caddyfile',
    authority: '/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt',
  },
  {
    name: 'nginx',
    configure: `install -d ${CERTIFICATES}
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=${NAME} -addext subjectAltName=DNS:${NAME} \\
  -keyout ${CERTIFICATES}/privkey.pem -out ${CERTIFICATES}/fullchain.pem
install -m 0644 docs/nginx/berth.conf /etc/nginx/conf.d/`,
    validate: 'nginx -t',
    authority: `${CERTIFICATES}/fullchain.pem`,
  },
];

async function aBerth(server: Server): Promise<void> {
  await copyCheckout(server, { built: true });
  put(server, 'etc/berth/berth.env', SETTINGS);
  await server.sh(`cd /opt/berth
    systemctl disable --now caddy nginx
    install -m 0644 docs/deploy/berth.service /etc/systemd/system/
    printf '%s\\n' '127.0.0.1 localhost' '${server.address} ${NAME}' >> /etc/hosts
    systemctl daemon-reload && systemctl enable --now berth`);
  await waitFor(() => answers(server, 'http://127.0.0.1:8080/livez'), {
    everyMs: 500,
    patienceMs: START_MS,
    what: 'a start',
  });
}

const answers = ({ sh }: Server, call: string): Promise<boolean> =>
  sh(`curl -fsS ${call}`).then(
    () => true,
    () => false,
  );

t.test("the docs' settings of each proxy carry the client's address, HTTP/2 and WebSockets", async (t) => {
  const server = await aServer(t, aFolder(t), ['caddy', 'nginx', 'openssl', 'curl']);
  const { sh, address } = server;
  await aBerth(server);
  for (const { name, configure, validate, authority } of PROXIES) {
    await t.test(name, async (t) => {
      await sh(`cd /opt/berth; ${configure}; ${validate} 2>&1`);
      await sh(`systemctl start ${name} || { journalctl --unit=${name} --no-pager >&2; exit 1; }`);
      const trust = `--cacert ${authority}`;
      await waitFor(() => answers(server, `${trust} https://${NAME}/livez`), { everyMs: 200, what: name });
      const curl = (words: string): Promise<string> => sh(`curl -sS ${trust} ${words}`);
      const status = (url: string): Promise<string> =>
        curl(`-o /dev/null -w '%{http_version} %{http_code} %{redirect_url}' ${url}`);

      t.match(await status(`https://${NAME}/livez`), /^2 200/);
      t.match(await status(`https://${NAME}/metrics`), /^2 404/);
      t.match(await status(`http://${NAME}/people`), new RegExp(`30[18] https://${NAME}/people`));

      const spoofed = "-H 'X-Forwarded-For: 203.0.113.9' -H 'Forwarded: for=203.0.113.9'";
      const body = `-H 'Content-Type: application/json' -d '{"email": "ada@${NAME}", "password": "correct-horse-battery"}'`;
      const { token } = JSON.parse(await curl(`${spoofed} ${body} https://${NAME}/api/auth/login`));
      const bearer = `-H 'Authorization: Bearer ${token}'`;
      const { sessions } = JSON.parse(await curl(`${bearer} https://${NAME}/api/sessions`));
      t.match(sessions[0], { is_current: true, ip_address: address }, 'the address cannot be forged');

      const doctor = `berth=$(ls node_modules/node-linux-*/bin/node); NODE_EXTRA_CA_CERTS=${authority} \
        BERTH_TOKEN=${token} $berth web/dist/cli/berth.mjs doctor --server https://${NAME} --output json || true`;
      const checks = JSON.parse(await sh(`cd /opt/berth; ${doctor}`));
      t.match(
        checks.find(({ check }: { check: string }) => check === 'websockets'),
        { result: 'ok' },
      );
      await sh(`systemctl stop ${name}`);
    });
  }
});
