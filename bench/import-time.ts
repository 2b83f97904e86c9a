import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { apiKey, chatRequest, chatResponse } from './bodies.ts';
import { gatewayOptions } from './gateway-options.ts';
import { cores } from './processes.ts';

/** Durations of the start of a process, in milliseconds, one value per process. */
export interface StartTimes {
  /** The first `import()` of the package. The files are in the page cache. */
  importMs: number[];
  /** `createGateway` with one provider and one model. */
  createMs: number[];
  /** From the beginning of the import to the end of the first response, in process. */
  answerMs: number[];
  /** As `answerMs`, from a provider over a connection. */
  connectedMs: number[];
}

/**
 * Measures the start in new processes. Node's own `Request` and `Response` are loaded before, and for `connectedMs` its
 * HTTP client: that takes Node 20 to 40 ms, and most hosts have done so.
 * @param specifier  a file URL
 */
export function timeStarts(specifier: string, times: number): StartTimes {
  timeStart(specifier, inMemory);
  const starts = Array.from({ length: times }, () => timeStart(specifier, inMemory));
  const all = (at: number) => starts.map((start) => start[at] as number);
  const connectedMs = Array.from({ length: times }, () => timeStart(specifier, connected)[2] as number);
  return { importMs: all(0), createMs: all(1), answerMs: all(2), connectedMs };
}

/** Stands for the address of the provider, which the code knows. */
const unknownUrl = 'http://provider.invalid/v1';

/** Code that makes `baseUrl` and `more`, the options for a provider in memory. */
const inMemory = `
    const baseUrl = 'http://127.0.0.1:9/v1';
    const more = { fetch: async () => new Response(${JSON.stringify(chatResponse)}, { headers }) };`;
/** The same for a provider that listens in the process itself. */
const connected = `
    const { createServer, get } = await import('node:http');
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, headers).end(${JSON.stringify(chatResponse)}));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const baseUrl = 'http://127.0.0.1:' + server.address().port + '/v1';
    await new Promise((done) => get(baseUrl, (response) => response.resume().on('end', done)));
    const more = {};`;

/** @param provider  code that makes the provider */
function timeStart(specifier: string, provider: string): number[] {
  const { apiKeys, providers, models } = gatewayOptions(unknownUrl, undefined);
  const options = { apiKeys, providers, models: models?.slice(0, 1) };
  const request = chatRequest().replace('bench/model-25', 'bench/model-0');
  const code = `
    const headers = { 'content-type': 'application/json' };
    await new Request('http://127.0.0.1', { method: 'POST', body: '{}', headers }).text();
    await new Response('{}', { headers }).text();
    ${provider}
    const options = ${JSON.stringify(options).replaceAll(JSON.stringify(unknownUrl), 'baseUrl')};
    const start = performance.now();
    const { createGateway } = await import(${JSON.stringify(specifier)});
    const imported = performance.now();
    const gateway = createGateway({ ...options, ...more });
    const created = performance.now();
    const response = await gateway.fetch('http://127.0.0.1/v1/chat/completions', {
      method: 'POST',
      headers: { ...headers, authorization: 'Bearer ${apiKey}' },
      body: ${JSON.stringify(request)},
    });
    const text = await response.text();
    const answered = performance.now();
    if (response.status !== 200) throw new Error(text);
    console.log(JSON.stringify([imported - start, created - imported, answered - start]));
    process.exit();`;
  const command = [process.execPath, '--input-type=module', '--eval', code];
  const [file = '', ...args] = cores === null ? command : ['taskset', '-c', String(cores['under-test']), ...command];
  const { stdout, stderr, status } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`importing ${specifier} failed: ${stderr}`);
  return JSON.parse(stdout);
}
