// The packed gateway on a loopback port, in front of an upstream of each wire.
import { createGateway, serve } from '../installed.mjs';
import { dialects, startUpstream } from './start.mjs';

export const apiKey = 'sk-matrix-inference-0123456789';

/**
 * Each upstream is one model, `acme/` with the name of its wire. It has an alias of the two names by which clients know
 * models of their own wire: `claude-…` and `gemini-…`. `acme/name:odd` is one more, of the wire chat.
 * @param script   of the model: `answerTo` and `isThought`, see `startUpstream`
 * @param options  of the gateway, beside these
 * @returns `root`: the address without a path; `spentKey`: an API key without money; `upstreams` by wire; `failures`: the statuses of
 *   requests that the gateway has not served; `close`
 */
export async function startAll(script, options = {}) {
  const upstreams = Object.fromEntries(
    await Promise.all(dialects.map(async (dialect) => [dialect, await startUpstream({ ...script, dialect })])),
  );
  const failures = [];
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  const endpointOf = (name) => ({ provider: `up-${name}`, model: upstreams[name].model, pricing });
  const gateway = createGateway({
    providers: Object.fromEntries(dialects.map((name) => [`up-${name}`, upstreams[name].provider])),
    models: [
      ...dialects.map((name) => ({
        slug: `acme/${name}`,
        aliases: [`claude-${name}`, `gemini-${name}`],
        contextLength: 200_000,
        endpoints: [endpointOf(name)],
      })),
      { slug: 'acme/name:odd', endpoints: [endpointOf('chat')] },
    ],
    apiKeys: [{ key: apiKey }],
    onRecord: ({ status }) => status >= 400 && failures.push(status),
    ...options,
  });
  const server = await serve(gateway, { port: 0 });
  const { key: spentKey } = await gateway.apiKeys.create({ name: 'Spent', limitNanoUsd: 1 });
  return {
    spentKey,
    root: server.url.replace(/\/v1$/, ''),
    upstreams,
    failures,
    async close() {
      await server.close(0);
      await gateway.close();
      for (const upstream of Object.values(upstreams)) upstream.close();
    },
  };
}
