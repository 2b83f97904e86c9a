import { describe, expect, it } from 'vitest';
import { fakeProject } from './fake-project.ts';

/** A stand-in for the test runner: writes the report it is given as text, and ends with a code. */
function runner(report: string | null, code: number): string {
  const write = `fs.writeFileSync(process.argv.find((a) => a.startsWith('--outputFile')).split('=')[1], ${JSON.stringify(report)});`;
  return `import fs from 'node:fs'; console.log(process.argv.slice(2).join(' ')); ${report === null ? '' : write} process.exit(${code});`;
}

const report = (passed: number, failed: number, skipped = 0) =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, numTodoTests: 0 });

function project({ tsc = 0, biome = 0, tests = runner(report(5, 0, 2), 0) } = {}) {
  const fake = fakeProject();
  fake.write('node_modules/typescript/bin/tsc', `console.log('tsc says something'); process.exit(${tsc});`);
  fake.write('node_modules/@biomejs/biome/bin/biome', `console.error('biome says something'); process.exit(${biome});`);
  fake.write('node_modules/vitest/vitest.mjs', tests);
  return fake;
}

const lastLine = (output: string) => output.trimEnd().split('\n').at(-1);

describe('npm test', () => {
  it('ends with a line that counts tests and steps', async () => {
    const { code, output } = await project().run('test');
    expect(lastLine(output)).toBe('7 passed, 0 failed, 2 skipped');
    expect(code).toBe(0);
    expect(output).not.toContain('says something');
  });
  it('fails and shows why when types or lint fail, and still runs the tests', async () => {
    const { code, output } = await project({ tsc: 2, biome: 1 }).run('test');
    expect(output).toContain('tsc says something');
    expect(output).toContain('biome says something');
    expect(lastLine(output)).toBe('5 passed, 2 failed, 2 skipped');
    expect(code).toBe(1);
  });
  it('fails when a test fails', async () => {
    const { code, output } = await project({ tests: runner(report(4, 1), 1) }).run('test');
    expect(lastLine(output)).toBe('6 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });
  it('fails when the runner fails without a failed test', async () => {
    const { code, output } = await project({ tests: runner(report(5, 0), 1) }).run('test');
    expect(lastLine(output)).toBe('7 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });
  it('fails when no test ran', async () => {
    const { code, output } = await project({ tests: runner(report(0, 0, 3), 0) }).run('test');
    expect(output).toContain('No test ran.');
    expect(lastLine(output)).toBe('2 passed, 1 failed, 3 skipped');
    expect(code).toBe(1);
  });
  it('is not taken in by the report of an earlier run', async () => {
    const { run, write } = project();
    await run('test');
    write('node_modules/vitest/vitest.mjs', runner(null, 0));
    const { code, output } = await run('test');
    expect(output).toContain('left no report');
    expect(lastLine(output)).toBe('2 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });
  it('runs only the tests asked for', async () => {
    const { code, output } = await project({ tsc: 1 }).run('test', 'test/unit/sse.test.ts');
    expect(output).toMatch(/^run .* test\/unit\/sse\.test\.ts\n/m);
    expect(lastLine(output)).toBe('5 passed, 0 failed, 2 skipped');
    expect(code).toBe(0);
  });
});

describe('npm start', () => {
  const tsup = `import fs from 'node:fs'; fs.appendFileSync('tsup.log', process.argv.slice(2).join(' ') + '\\n');
fs.mkdirSync('dist', { recursive: true }); fs.writeFileSync('dist/index.js', '');
fs.writeFileSync('dist/cli.js', 'console.log(process.argv.slice(2).join(" "))');
process.exit(fs.existsSync('fail-build') ? 1 : 0);`;

  function buildable() {
    const fake = fakeProject();
    fake.write('node_modules/tsup/dist/cli-default.js', tsup);
    fake.write('node_modules/tsup/package.json', '{"type":"module"}');
    for (const path of ['src/index.ts', 'adapters/cli/cli.ts', 'tsconfig.json', 'tsup.config.ts'])
      fake.write(path, path);
    for (const path of ['make-declarations', 'print-types', 'make-console-page', 'console-page', 'join-chunks'])
      fake.write(`scripts/${path}.ts`, 'export {};');
    return { ...fake, builds: () => fake.read('tsup.log').split('\n').length - 1 };
  }

  it('builds first, then serves with the arguments given', async () => {
    const { run, read } = buildable();
    const { code, output } = await run('start', '--port', '1');
    expect(lastLine(output)).toBe('serve --port 1');
    expect(code).toBe(0);
    expect(read('tsup.log')).toBe('--no-dts\n');
  });
  it('builds again only when a source has changed', async () => {
    const { run, write, builds } = buildable();
    await run('start');
    await run('start');
    expect(builds()).toBe(1);
    write('src/base/new.ts', '');
    await run('start');
    expect(builds()).toBe(2);
    write('src/index.ts', 'changed');
    await run('start');
    expect(builds()).toBe(3);
  });
  it('builds again when dist is gone', async () => {
    const { run, remove, builds } = buildable();
    await run('start');
    remove('dist');
    expect((await run('start')).code).toBe(0);
    expect(builds()).toBe(2);
  });
  it('does not serve what did not build, also the next time', async () => {
    const { run, write, remove, builds } = buildable();
    write('fail-build', '');
    for (const _ of ['at first', 'and again']) {
      const { code, output } = await run('start');
      expect(output).toContain('The build failed');
      expect(output).not.toContain('serve');
      expect(code).toBe(1);
    }
    remove('fail-build');
    expect((await run('start')).code).toBe(0);
    expect(builds()).toBe(3);
  });
  it('takes a full build for its own, and a full build does not take its for one', async () => {
    const { run, builds, read } = buildable();
    await run('start');
    await run('build');
    await run('start');
    expect(builds()).toBe(2);
    expect(read('tsup.log')).toBe('--no-dts\n\n');
  });
});
