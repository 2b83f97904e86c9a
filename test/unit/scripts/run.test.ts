import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { fakeProject } from './fake-project.ts';

const sayHello = `console.log('hello', process.argv.slice(2).join(' ')); process.exitCode = 3;`;

function project() {
  const fake = fakeProject();
  fake.write('scripts/start.mjs', sayHello);
  return fake;
}

describe('an npm script', () => {
  it('installs first, then runs its task with the arguments given and ends with its code', async () => {
    const { run, npmCalls } = project();
    const { code, output } = await run('start', '--port', '1');
    expect(output).toMatch(/Installing dependencies.*\n.*Installed in.*\nhello --port 1\n$/);
    expect(code).toBe(3);
    expect(npmCalls()).toEqual(['ci']);
  });
  it('installs only once', async () => {
    const { run, npmCalls } = project();
    await run('start');
    expect((await run('start')).output).toBe('hello \n');
    expect(npmCalls()).toEqual(['ci']);
  });
  it('installs again when the lock file asks for another version', async () => {
    const { run, npmCalls, lock } = project();
    await run('start');
    lock('1.0.1');
    await run('start');
    expect(npmCalls()).toEqual(['ci', 'ci']);
  });
  it('installs again after an installation that was interrupted', async () => {
    const { run, npmCalls, remove } = project();
    await run('start');
    remove('node_modules/.package-lock.json');
    remove('node_modules/node');
    await run('start');
    expect(npmCalls()).toEqual(['ci', 'ci']);
  });
  it('is content with a lock file that npm ci refuses', async () => {
    const { run, npmCalls, write } = project();
    write('fail-ci', '');
    expect(await run('start')).toMatchObject({ code: 3 });
    expect(npmCalls()).toEqual(['ci', 'install']);
  });
  it('says so when nothing can be installed', async () => {
    const { run, write } = project();
    write('fail-ci', '');
    write('fail-install', '');
    const { code, output } = await run('start');
    expect(code).toBe(1);
    expect(output).toContain('Is the registry within reach?');
    expect(output).not.toContain('hello');
  });
  it('names the remedy when install scripts were not allowed to bring the pinned Node', async () => {
    const { run, write } = project();
    write('ignore-scripts', '');
    for (const _ of ['at first', 'and later']) {
      const { code, output } = await run('start');
      expect(code).toBe(1);
      expect(output).toContain('npm rebuild node');
      expect(output).not.toContain('hello');
    }
  });
  it('refuses a Node that is not the pinned one', async () => {
    const { run, write } = project();
    write('package.json', JSON.stringify({ devDependencies: { node: '1.2.3' } }));
    const { code, output } = await run('start');
    expect(code).toBe(1);
    expect(output).toContain(`should be Node 1.2.3 but says "${process.versions.node}"`);
  });
  it('passes SIGTERM on and waits for the orderly end', async () => {
    const { start, write } = project();
    write(
      'scripts/start.mjs',
      `process.on('SIGTERM', () => { console.log('draining'); process.exit(7); }); setInterval(() => {}, 1e6); console.log('up');`,
    );
    const child = start('start');
    let output = '';
    for await (const part of child.stdout.setEncoding('utf8')) {
      output += part;
      if (output.includes('up')) break;
    }
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, null]);
  });
  it('lists the tasks when asked for one that does not exist', async () => {
    const { code, output } = await project().run('begin');
    expect(code).toBe(1);
    expect(output).toContain('Unknown task "begin". There are: start, test,');
  });
});
