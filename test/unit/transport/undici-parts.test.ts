import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** What a process reads of undici that sends one request, and the response. @param before  code that runs first */
async function sentInProcess(before: string): Promise<{ text: string; files: string[] }> {
  const code = `
    import { createServer } from 'node:http';
    import { createRequire, registerHooks } from 'node:module';
    ${before}
    const { undiciTransport } = await import('./src/transport/undici.ts');
    const server = createServer((_, response) => response.end('Good morning'));
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const url = 'http://127.0.0.1:' + server.address().port + '/';
    const transport = undiciTransport();
    const { signal } = new AbortController();
    const limits = { headerBytes: 16_384 };
    const { body } = await transport.send({ method: 'GET', url, headers: {}, signal, limits });
    let text = '';
    for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) text += new TextDecoder().decode(chunk);
    await transport.close();
    server.close();
    const { cache } = createRequire(import.meta.resolve('undici'));
    const files = Object.keys(cache).map((file) => file.split('/undici/')[1]).filter((file) => file !== undefined);
    console.log(JSON.stringify({ text, files }));`;
  const { stdout } = await promisify(execFile)(execPath, ['--input-type=module', '--eval', code], { cwd: root });
  return JSON.parse(stdout);
}

describe('the parts of undici', () => {
  it('are all that a request loads of it', async () => {
    const { text, files } = await sentInProcess('');
    expect(text).toBe('Good morning');
    expect(files).toContain('lib/dispatcher/agent.js');
    expect(files.filter((file) => /^(index\.js|lib\/(web|mock|cache|interceptor|api)\/)/.test(file))).toEqual([]);
  });

  it('come with the whole where a version has other files', async () => {
    const { text, files } = await sentInProcess(`registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('undici/lib/')) throw Object.assign(new Error('no such file'), { code: 'ERR_MODULE_NOT_FOUND' });
        return next(specifier, context);
      },
    });`);
    expect(text).toBe('Good morning');
    expect(files).toContain('index.js');
  });
});
