import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { receive } from '../contract/adapters/client.ts';
import { serve } from './cli-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-data-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
const newPath = () => join(folder, `${folders++}`);
const root = join(import.meta.dirname, '../..');
const key = 'key-of-the-operator';
const hasModes = process.platform !== 'win32';
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Serves from a data folder while `use` runs; gives what was printed. */
async function serving(data: string, use: (url: string) => Promise<void> = async () => {}, ...args: string[]) {
  const { url, printed, code, signalAt } = serve({ GATEWAY_API_KEY: key, MODEL_GATEWAY_DATA: data }, ...args);
  const ended = await Promise.race([url.then(() => null), code]);
  if (ended === null) await use(await url).finally(() => signalAt(0));
  return { code: await code, ...printed };
}

async function post(url: string, path: string, body: object, bearer = key) {
  const { status, text } = await receive(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status, body: JSON.parse(text) };
}

const hello = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] };
const providerKey = { provider: 'openai', key: 'sk-secret-of-a-workspace-0123456789' };

describe('the data folder of model-gateway serve', { timeout: 60_000 }, () => {
  it('is made at the first start, for its owner alone, and the banner names it', async () => {
    const data = join(newPath(), 'deep', 'data');
    const { out, error } = await serving(data, async (url) => {
      expect((await post(url, '/keys', { name: 'one' })).status).toBe(201);
      if (!hasModes) return;
      expect(modeOf(data)).toBe(0o700);
      for (const name of ['secret', 'gateway.db', 'gateway.db-wal']) expect(modeOf(join(data, name))).toBe(0o600);
    });
    expect(out).toContain(`\n  data       ${data}\n`);
    expect(readdirSync(data).toSorted()).toEqual(['.gitignore', 'gateway.db', 'secret']);
    expect(readFileSync(join(data, '.gitignore'), 'utf8')).toBe('*\n');
    const secret = readFileSync(join(data, 'secret'), 'utf8').trim();
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(out + error).not.toContain(secret);
    expect(error).toMatch(/^Stopping: .*\n$/);
  });

  it('keeps keys, provider keys and the secret from one run to the next', async () => {
    const data = newPath();
    let made = '';
    let credential = '';
    await serving(data, async (url) => {
      const created = await post(url, '/keys', { name: 'one' });
      made = created.body.key;
      const stored = await post(url, '/byok', providerKey);
      expect(stored.status).toBe(201);
      credential = stored.body.data.id;
    });
    const secret = readFileSync(join(data, 'secret'), 'utf8');
    await serving(data, async (url) => {
      expect((await post(url, '/chat/completions', hello, made)).status).toBe(200);
      const headers = { authorization: `Bearer ${key}` };
      const found = await receive(`${url}/byok/${credential}`, { method: 'GET', headers });
      expect([found.status, JSON.parse(found.text).data.provider]).toEqual([200, 'openai']);
    });
    expect(readFileSync(join(data, 'secret'), 'utf8')).toBe(secret);
    // The provider key stands nowhere in it.
    for (const name of readdirSync(data))
      expect(readFileSync(join(data, name), 'latin1')).not.toContain(providerKey.key);
  });

  it('is the one of --data, before MODEL_GATEWAY_DATA, before .model-gateway where it is started', async () => {
    const [byVariable, byFlag] = [newPath(), newPath()];
    const { out } = await serving(byVariable, undefined, '--data', byFlag);
    expect(out).toContain(`  data       ${byFlag}\n`);
    expect(readdirSync(folder)).not.toContain(byVariable);
    const here = newPath();
    mkdirSync(here);
    const printed = await inProcess(here);
    expect(printed).toContain(`  data       ${join(here, '.model-gateway')}\n`);
    expect(readdirSync(here)).toEqual(['.model-gateway']);
  });

  it('gives several that start at once the same secret', async () => {
    const here = newPath();
    mkdirSync(here);
    const script = join(here, 'open.ts');
    writeFileSync(
      script,
      `import { openDataFolder } from ${JSON.stringify(join(root, 'adapters/cli/data-folder.ts'))};
const startAtMs = Number(process.argv[2]);
while (Date.now() < startAtMs);
const { secret, store, warnings } = openDataFolder(${JSON.stringify(join(here, 'data'))});
await store.set('key', 'value');
console.log(JSON.stringify({ secret, warnings }));`,
    );
    const startAtMs = Date.now() + 2_000;
    const answers = await Promise.all(Array.from({ length: 4 }, () => output([script, `${startAtMs}`], here)));
    const kept = readFileSync(join(here, 'data', 'secret'), 'utf8').trim();
    expect(answers.map((text) => JSON.parse(text).secret)).toEqual([kept, kept, kept, kept]);
    expect(readdirSync(join(here, 'data')).toSorted()).toEqual(['.gitignore', 'gateway.db', 'secret']);
  });

  it.skipIf(!hasModes)('warns when others can read the secret, and serves', async () => {
    const data = newPath();
    await serving(data);
    chmodSync(join(data, 'secret'), 0o644);
    const { code, error } = await serving(data);
    expect(code).toBe(0);
    expect(error).toContain(`can be read by other users of this machine: chmod 600 ${join(data, 'secret')}\n`);
  });

  it('warns when the secret of its data is gone', async () => {
    const data = newPath();
    await serving(data);
    rmSync(join(data, 'secret'));
    const { code, error } = await serving(data);
    expect(code).toBe(0);
    expect(error).toContain(`The secret ${join(data, 'secret')} was gone, and a new one has been made`);
    expect((await serving(data)).error).not.toContain('was gone');
  });

  it.each<[string, (data: string) => void, RegExp]>([
    [
      'lies under a file',
      (data) => writeFileSync(join(data, '..'), ''),
      /^The data folder .* cannot be made: .* Choose another folder with --data or MODEL_GATEWAY_DATA\.\n$/,
    ],
    [
      'is a file',
      (data) => {
        mkdirSync(join(data, '..'));
        writeFileSync(data, '');
      },
      /^The data folder .* cannot be made: .* Choose another folder/,
    ],
    [
      'has a database that is none',
      (data) => {
        mkdirSync(data, { recursive: true });
        writeFileSync(join(data, 'gateway.db'), 'no database'.repeat(100));
      },
      /gateway\.db is not an SQLite database\. Choose another folder/,
    ],
    [
      'has a folder in the place of the secret',
      (data) => mkdirSync(join(data, 'secret'), { recursive: true }),
      /^The secret .* can be neither read nor made: .* Choose another folder/,
    ],
    [
      'has an empty secret',
      (data) => {
        mkdirSync(data, { recursive: true });
        writeFileSync(join(data, 'secret'), '\n', { mode: 0o600 });
      },
      /^The file .*secret holds no secret of at least 32 characters\. Put back/,
    ],
  ])('that %s: ends with a line that says what to do', async (_, prepare, message) => {
    const data = join(newPath(), 'data');
    prepare(data);
    const { code, error, out } = await serving(data);
    expect(code).toBe(1);
    expect(error.split('\n').at(-2)).toMatch(new RegExp(message.source.replace('\\n$', '$').replace(/^\^/, '')));
    expect(out).toBe('');
  });

  it.skipIf(!hasModes)('that may not be written to: says what to do', async () => {
    const data = newPath();
    mkdirSync(data);
    chmodSync(folder, 0o755);
    chmodSync(data, 0o555);
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
    const args = ['adapters/cli/cli.ts', 'serve', '--port', '0', '--data', data];
    const text = await output(args, root, user);
    expect(text).toMatch(/^The secret .* can be neither read nor made: EACCES.* Choose another folder with --data/);
  });

  it('is not used by a config file that gives a store', async () => {
    const data = newPath();
    const config = join(folder, 'with-store.mjs');
    writeFileSync(
      config,
      `export default { providers: { sandbox: {} }, store: new Map(), apiKeys: [{ key: '${key}' }] };`,
    );
    const { code, out } = await serving(data, undefined, '--config', config);
    expect(code).toBe(0);
    expect(out).toContain('  data       as configured\n');
    expect(() => statSync(data)).toThrow('ENOENT');
  });

  it('is used by a config file that gives none, with the secrets of the file if it has some', async () => {
    const data = newPath();
    const config = join(folder, 'with-secrets.mjs');
    writeFileSync(
      config,
      `export default {
        providers: { sandbox: {} },
        apiKeys: [{ key: '${key}', permissions: ['management'] }],
        secrets: { current: '${'s'.repeat(40)}' },
      };`,
    );
    await serving(
      data,
      async (url) => {
        expect((await post(url, '/byok', providerKey)).status).toBe(201);
      },
      '--config',
      config,
    );
    expect(readdirSync(data).toSorted()).toEqual(['.gitignore', 'gateway.db']);
  });

  it('is none on a runtime without SQLite: all is kept in memory, and the banner says so', async () => {
    const real = process.getBuiltinModule;
    const lookup = vi
      .spyOn(process, 'getBuiltinModule')
      .mockImplementation((id: string) => (id === 'node:sqlite' ? undefined : real.call(process, id)) as never);
    const data = newPath();
    const { code, out } = await serving(data, async (url) => {
      expect((await post(url, '/keys', { name: 'one' })).status).toBe(201);
      expect((await post(url, '/byok', providerKey)).status).toBe(201);
    });
    lookup.mockRestore();
    expect(code).toBe(0);
    expect(out).toContain('  data       in memory, lost at the end: this runtime has no node:sqlite; Node 22.19');
    expect(() => statSync(data)).toThrow('ENOENT');
  });

  it('is closed at the end, also when nothing was served', async () => {
    const data = newPath();
    await serving(data);
    // SQLite removes what lies beside the database when the last connection is closed.
    expect(readdirSync(data).toSorted()).toEqual(['.gitignore', 'gateway.db', 'secret']);
    const failed = await serving(data, undefined, '--host', '192.0.2.1');
    expect([failed.code, failed.error]).toEqual([1, expect.stringContaining('Cannot listen')]);
    expect(readdirSync(data)).toHaveLength(3);
  });
});

/** Starts the command in a folder and stops it; what it printed. */
function inProcess(cwd: string): Promise<string> {
  return output([join(root, 'adapters/cli/cli.ts'), 'serve', '--port', '0'], cwd);
}

/** What a process prints until it ends; a server is stopped as soon as it serves. */
function output(args: string[], cwd: string, user: { uid?: number; gid?: number } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--conditions=model-gateway-source', ...args], {
      cwd,
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (/serves \S+/.test(text)) child.kill('SIGTERM');
      });
    }
    child.once('error', reject);
    child.once('close', () => resolve(text));
  });
}
