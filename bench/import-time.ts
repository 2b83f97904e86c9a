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
}

/**
 * Measures the start in new processes. Node's own `Request` and `Response` are loaded before: that takes Node 20 to 40 ms,
 * and most hosts have done so.
 * @param specifier  a file URL
 */
export function timeStarts(specifier: string, times: number): StartTimes {
  timeStart(specifier);
  const starts = Array.from({ length: times }, () => timeStart(specifier));
  const all = (at: number) => starts.map((start) => start[at] as number);
  return { importMs: all(0), createMs: all(1), answerMs: all(2) };
}

function timeStart(specifier: string): number[] {
  const { apiKeys, providers, models } = gatewayOptions('http://127.0.0.1:9/v1', undefined);
  const options = { apiKeys, providers, models: models?.slice(0, 1) };
  const request = chatRequest().replace('bench/model-25', 'bench/model-0');
  const code = `
    const headers = { 'content-type': 'application/json' };
    await new Request('http://127.0.0.1', { method: 'POST', body: '{}', headers }).text();
    await new Response('{}', { headers }).text();
    const start = performance.now();
    const { createGateway } = await import(${JSON.stringify(specifier)});
    const imported = performance.now();
    const fetch = async () => new Response(${JSON.stringify(chatResponse)}, { headers });
    const gateway = createGateway({ ...${JSON.stringify(options)}, fetch });
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
