import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isPostgres } from '../../support/ask.ts';
import { postgresFolder } from '../../support/services.ts';

const script = join(import.meta.dirname, '../../../scripts/services.mjs');

interface Seen {
  name: string;
  debianPackage: string;
  isThere: boolean;
  isInstalled: boolean;
}
interface Plan {
  install: string[];
  start: string[];
  missing: string[];
}
const { planServices }: { planServices: (seen: Seen[], canInstall: boolean) => Plan } = await import(script);

function redis(isThere: boolean, isInstalled: boolean): Seen {
  return { name: 'Redis', debianPackage: 'redis-server', isThere, isInstalled };
}

describe('the servers of a run that requires them', () => {
  it.each<[string, Seen, boolean, Partial<Plan>]>([
    ['that is there, with its programs, is used', redis(true, true), true, {}],
    ['that is installed is started', redis(false, true), false, { start: ['Redis'] }],
    [
      'that is missing is installed and started',
      redis(false, false),
      true,
      { install: ['redis-server'], start: ['Redis'] },
    ],
    [
      'that is there without its programs is used, and they are installed for the tests of faults',
      redis(true, false),
      true,
      { install: ['redis-server'] },
    ],
  ])('one %s', (_, seen, canInstall, plan) => {
    expect(planServices([seen], canInstall)).toEqual({ install: [], start: [], missing: [], ...plan });
  });
  it.each([
    ['missing', redis(false, false), 'There is no Redis: install it (on Debian `apt-get install redis-server`)'],
    ['there without its programs', redis(true, false), 'A Redis is running, but tests of its faults need its programs'],
  ])('one %s is told of where nothing may be installed', (_, seen, words) => {
    const { install, start, missing } = planServices([seen], false);
    expect([install, start, missing.length]).toEqual([[], [], 1]);
    expect(missing[0]).toContain(words);
    expect(missing[0]).toContain('REQUIRE_SERVICES=0');
  });
  it('are decided on one by one', () => {
    const postgres = { name: 'PostgreSQL', debianPackage: 'postgresql', isThere: false, isInstalled: true };
    expect(planServices([redis(false, false), postgres], true)).toEqual({
      install: ['redis-server'],
      start: ['Redis', 'PostgreSQL'],
      missing: [],
    });
  });
});

describe.skipIf(process.platform === 'win32')('a run', () => {
  /** Programs by name, and what they do; the run finds no others. */
  function machine(programs: Record<string, string>) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'model-gateway-machine-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    return folder;
  }
  /** Provides services, says where they are, and stays until it is ended. Nobody listens on port 1. */
  const program = `
    const { provideServices, services } = await import(${JSON.stringify(script)});
    const { env, stop } = await provideServices(services.map((one) => ({ ...one, port: 1 })));
    console.log(JSON.stringify(env));
    process.stdin.on('end', stop).resume();`;

  function start(env: Record<string, string | undefined>) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    const said = new Promise<Record<string, string>>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const line = output.split('\n').find((one) => one.startsWith('{'));
        if (line) resolve(JSON.parse(line));
      });
      child.on('exit', () => reject(new Error(output)));
    });
    return { child, said, output: () => output };
  }
  const elsewhere = { DATABASE_URL: 'postgres://elsewhere.test' };

  it.each<[string, (child: ChildProcess) => unknown]>([
    ['its end', (child) => child.stdin?.end()],
    ['its death', (child) => child.kill('SIGKILL')],
  ])('starts what is installed, and takes it along at %s', async (_, end) => {
    const listen = `require('net').createServer().listen(process.argv[2], '127.0.0.1')`;
    const folder = machine({ 'redis-server': `exec '${process.execPath}' -e "${listen}" -- "$@"` });
    const { child, said } = start({ ...elsewhere, PATH: folder, TMPDIR: folder });
    const { REDIS_URL, DATABASE_URL } = await said;
    expect(DATABASE_URL).toBeUndefined();
    const port = Number(new URL(REDIS_URL as string).port);
    expect(await answers(port)).toBe(true);
    end(child);
    await expect.poll(() => answers(port), { timeout: 8_000 }).toBe(false);
    await expect.poll(() => readdirSync(folder), { timeout: 8_000 }).toEqual(['redis-server']);
  });
  it('says what does not start, and goes on', async () => {
    const folder = machine({ 'redis-server': 'echo no memory >&2; exit 1' });
    const { said, output } = start({ ...elsewhere, PATH: folder, TMPDIR: folder });
    expect(await said).toEqual({});
    expect(output()).toMatch(/^Redis could not be started: it ended at once: no memory/m);
  });
  it.runIf(postgresFolder !== null)('starts a PostgreSQL that lets tests in', { timeout: 60_000 }, async () => {
    const { child, said } = start({ PATH: process.env.PATH, REDIS_URL: 'redis://elsewhere.test' });
    const url = new URL((await said).DATABASE_URL as string);
    expect(await isPostgres(Number(url.port), url.username, url.pathname.slice(1))).toBe(true);
    child.stdin?.end();
    await expect.poll(() => answers(Number(url.port)), { timeout: 8_000 }).toBe(false);
  });
  it.runIf(process.getuid?.() === 0)(
    'installs by the package manager, without asking, and says what failed',
    async () => {
      const folder = machine({ 'apt-get': 'echo "$DEBIAN_FRONTEND $@" >> "$(dirname "$0")/log"; [ "$1" = update ]' });
      execFileSync('ln', [
        '-s',
        execFileSync('which', ['dirname'], { encoding: 'utf8' }).trim(),
        join(folder, 'dirname'),
      ]);
      const { said, output } = start({ ...elsewhere, PATH: folder, TMPDIR: folder });
      expect((await said).REDIS_URL).toBeUndefined();
      expect(output()).toMatch(/^Installing redis-server/m);
      expect(output()).toContain('apt-get install failed');
      const log = readFileSync(join(folder, 'log'), 'utf8').split('\n');
      expect(log[0]).toBe('noninteractive update -qq');
      expect(log[1]).toMatch(/^noninteractive install -y -qq --no-install-recommends redis-server/);
    },
  );
});

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
