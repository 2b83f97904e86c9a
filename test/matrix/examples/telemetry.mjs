// The example with telemetry: a gateway, a collector, a request, and what the collector prints of it.
import { spawn } from 'node:child_process';
import process from 'node:process';

/** @param ports  of the gateway and of the collector */
export async function checkTelemetry({ folder, ports: [port, collectorPort], key, report }) {
  const children = [];
  const run = (file, env) => {
    const child = spawn(process.execPath, [file], { cwd: folder, env: { ...process.env, ...env } });
    children.push(child);
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => {
        said.text += part;
      });
    return { child, said };
  };
  const within = async (what, isTrue) => {
    for (let look = 0; look < 200; look++) {
      if (await isTrue()) return true;
      await new Promise((go) => setTimeout(go, 50));
    }
    report(`telemetry: ${what}`, false);
    return false;
  };
  try {
    const collector = run('collector.js', { COLLECTOR_PORT: String(collectorPort) });
    const server = run('server.js', {
      PORT: String(port),
      GATEWAY_API_KEY: key,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
      EXPORT_EVERY_MS: '300',
    });
    if (!(await within('starts', () => server.said.text.includes('http://')))) return;
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'acme/echo',
        user: 'ann',
        messages: [{ role: 'user', content: 'a secret prompt' }],
      }),
    });
    report('telemetry: answers', response.status === 200);
    await response.text();
    const lines = () =>
      collector.said.text
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line));
    const isThere = () => {
      const all = lines();
      const request = all.find(({ span }) => span === 'gateway.request');
      const call = all.find(({ span }) => span === 'chat acme/echo');
      const cost = all.find(({ metric, value }) => metric === 'gateway.cost' && value > 0);
      const duration = all.find(({ metric }) => metric === 'gen_ai.server.request.duration');
      const state = all.find(({ metric }) => metric === 'gateway.requests.in_flight');
      return request?.['user.id'] === 'ann' && call?.trace === request.trace && cost && duration?.count === 1 && state;
    };
    const arrived = await within('spans and metrics arrive', isThere);
    if (arrived) report('telemetry: spans of one trace, and metrics, arrive at the collector', true);
    report('telemetry: no prompt and no key arrive', !/secret prompt|key-of-an-example/.test(collector.said.text));
    const ended = new Promise((resolve) => server.child.once('exit', resolve));
    server.child.kill('SIGTERM');
    report('telemetry: ends when it is asked to', (await ended) === 0);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}
