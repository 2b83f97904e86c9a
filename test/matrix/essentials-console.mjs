// What must hold of the console on every runtime: it comes out of a module, without a file system.
import { check, equal, notEqual } from './essentials-support.mjs';

const key = 'sk-console-0123456789';
/** A policy under which no script runs but the page's own. */
const policy = /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';.*trusted-types 'none'$/;

/**
 * Looks at a console as a browser does.
 * @param base  its address, without a slash at its end
 * @param send  as `fetch`
 * @param path  of the cookie
 */
export async function checkConsole(base, send, path = new URL(base).pathname) {
  const page = await send(base + (await opens(base, send)));
  const html = await page.text();
  equal(page.status, 200, 'status of the page');
  check(policy.test(page.headers.get('content-security-policy')), 'the page has its policy');
  const names = [...html.matchAll(/assets\/([\w.-]+)"/g)].map(([, name]) => name);
  equal(names.length, 2, 'assets that the page names');
  for (const name of names) {
    check(/[0-9a-zA-Z]{8}/.test(name), `the name ${name} has a hash`);
    const asset = await send(`${base}/assets/${name}`);
    equal(asset.status, 200, `status of ${name}`);
    equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable', `cache of ${name}`);
    check(policy.test(asset.headers.get('content-security-policy')), `${name} has the policy`);
    check((await asset.text()).length > 1_000, `${name} is whole`);
  }
  const json = { 'content-type': 'application/json' };
  const refused = await send(`${base}/api/workspaces`);
  equal(refused.status, 401, 'status without a session');
  await refused.text();
  const wrong = { method: 'POST', headers: json, body: JSON.stringify({ key: 'sk-wrong-0123456789' }) };
  const unknown = await send(`${base}/session`, wrong);
  equal(unknown.status, 401, 'status of a wrong key');
  await unknown.text();
  const signedIn = await send(`${base}/session`, { method: 'POST', headers: json, body: JSON.stringify({ key }) });
  equal(signedIn.status, 200, 'status of the sign-in');
  await signedIn.text();
  const cookie = signedIn.headers.get('set-cookie') ?? '';
  const [, bound = '', seconds] = /; (Path=.*); Max-Age=(\d+); HttpOnly; SameSite=Strict/.exec(cookie) ?? [];
  equal(bound, `Path=${path}`, 'path of the cookie');
  check(seconds > 3_500 && seconds <= 3_600, `the cookie lasts an hour: ${cookie}`);
  check(!cookie.includes(key), 'the cookie does not show the key');
  const [pair] = cookie.split(';');
  const seen = await send(`${base}/api/workspaces`, { headers: { cookie: pair } });
  equal(seen.status, 200, 'status of an operation behind the cookie');
  equal((await seen.json()).data.length, 1, 'workspaces');
  const changed = `${pair.slice(0, -3)}${pair.at(-3) === 'A' ? 'B' : 'A'}${pair.slice(-2)}`;
  notEqual(changed, pair, 'a cookie that somebody changed');
  const forged = await send(`${base}/api/workspaces`, { headers: { cookie: changed } });
  equal(forged.status, 401, 'status with it');
  await forged.text();
  const foreign = { cookie: pair, 'sec-fetch-site': 'cross-site' };
  const elsewhere = await send(`${base}/api/workspaces`, { headers: foreign });
  equal(elsewhere.status, 403, 'status for a page of another site');
  await elsewhere.text();
}

/** The end of the path at which the page is: where the host does not remove the slash, the path without it leads there. */
async function opens(base, send) {
  const response = await send(base, { redirect: 'manual' });
  await response.text();
  if (response.status === 200) return '';
  equal(response.status, 308, 'status of the path without a slash');
  check(response.headers.get('location')?.endsWith('/'), 'it leads to the path with one');
  return '/';
}

export const consoleChecks = {
  async 'shows the console under its own path and another one, to who signs in, in sealed form'({
    createGateway,
    consoleHandler,
  }) {
    const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key, permissions: ['management'] }] });
    const page = consoleHandler(gateway);
    await checkConsole('https://app.invalid/console', (url, init) => page(new Request(url, init)));
    const at = { basePath: '/admin/gw' };
    const mounted = (url, init) => page.handle(new Request(url, init), at);
    await checkConsole('https://app.invalid/admin/gw', mounted);
    const elsewhere = await mounted('https://app.invalid/console/');
    equal(elsewhere.status, 404, 'status outside of the mount');
    await gateway.close();
  },
};
