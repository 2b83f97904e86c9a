// The browser of the console's tests: Debian's own, because playwright's download is no package of a registry.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';

const paths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'];
const packages = ['chromium-headless-shell', 'chromium'];

/** @returns the path of the program; null: there is none, and none could be installed */
export function findChromium() {
  const { CHROMIUM_PATH, REQUIRE_SERVICES } = process.env;
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  const found = () => paths.find((path) => existsSync(path)) ?? null;
  if (found() !== null || REQUIRE_SERVICES !== '1' || process.getuid?.() !== 0) return found();
  const aptGet = (args) =>
    spawnSync('apt-get', args, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status === 0;
  aptGet(['update', '-qq']);
  for (const name of packages) if (aptGet(['install', '-y', '-qq', '--no-install-recommends', name])) break;
  return found();
}
