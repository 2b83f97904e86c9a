// The listings through the SDK: every answer passes the SDK's own validation, or its call rejects.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { OpenRouter } from '@openrouter/sdk';
import { errorOf } from '../clients/check.mjs';
import { managementKey } from '../clients/service.mjs';

const pricing = { prompt: '0.000002', completion: '0.000008', inputCacheRead: '0.0000005' };

/** Options of a gateway with a model of which much is known, at an endpoint that keeps nothing and one that is disabled. */
export const listed = {
  models: [
    {
      slug: 'acme/known',
      name: 'Known',
      description: 'For the listings.',
      created: '2026-01-01',
      contextLength: 8192,
      inputModalities: ['text', 'image'],
      endpoints: [
        {
          provider: 'sandbox',
          model: 'echo',
          variant: 'private',
          pricing,
          contextLength: 8192,
          maxCompletionTokens: 1024,
          quantization: 'fp8',
          supportedParameters: ['tools', 'seed'],
          dataPolicy: { zeroRetention: true },
        },
        { provider: 'sandbox', model: 'lorem', disabled: true },
      ],
    },
  ],
  catalog: { builtInModels: false },
};

/** @returns the checks of models, endpoints and providers */
export function listingChecks(service) {
  const clientOf = (apiKey) =>
    new OpenRouter({ apiKey, serverURL: service.baseURL, retryConfig: { strategy: 'none' } });
  const client = clientOf(service.apiKey);
  const chatRequest = { model: 'acme/known', messages: [{ role: 'user', content: 'Good morning' }] };

  return {
    async 'models: list, with filters and sorts'() {
      const { data } = await client.models.list({});
      const known = data.find(({ id }) => id === 'acme/known');
      deepEqual(
        [known.name, known.contextLength, known.pricing.prompt, known.pricing.inputCacheRead, known.created],
        ['Known', 8192, '0.000002', '0.0000005', Date.UTC(2026, 0, 1) / 1000],
      );
      deepEqual(known.architecture.inputModalities, ['text', 'image']);
      deepEqual(known.supportedParameters, ['tools', 'seed']);
      equal(`${new URL(service.baseURL).pathname}/models/acme/known/endpoints`, known.links.details);
      ok(data.some(({ id }) => id === 'sandbox/echo'));
      const ids = async (request) => (await client.models.list(request)).data.map(({ id }) => id);
      deepEqual(await ids({ q: 'known' }), ['acme/known']);
      deepEqual(await ids({ modelAuthors: 'acme', supportedParameters: 'tools', context: 8000, minPrice: 1 }), [
        'acme/known',
      ]);
      deepEqual(await ids({ modelAuthors: 'acme', maxPrice: 1 }), []);
      deepEqual(await ids({ category: 'programming' }), []);
      equal((await ids({ sort: 'newest' }))[0], 'acme/known');
    },
    async 'models: count, one, and those of the user'() {
      const { data } = await client.models.list({});
      equal((await client.models.count({})).data.count, data.length);
      const one = (await client.models.get({ author: 'acme', slug: 'known' })).data;
      deepEqual(
        data.find(({ id }) => id === 'acme/known'),
        one,
      );
      const own = await client.models.listForUser({ bearer: service.apiKey });
      // Those of the user are of every kind; without a wish, a list has those that write.
      deepEqual(own.data, (await client.models.list({ outputModalities: 'all' })).data);
    },
    async 'endpoints: of a model, with status and what was seen'() {
      for (let count = 0; count < 5; count++) await client.chat.send({ chatRequest });
      const { data } = await client.endpoints.list({ author: 'acme', slug: 'known' });
      deepEqual([data.id, data.description], ['acme/known', 'For the listings.']);
      const [used, disabled] = data.endpoints;
      deepEqual(
        [used.name, used.tag, used.status, used.quantization, used.maxCompletionTokens, used.uptimeLast5m],
        ['Sandbox | acme/known', 'sandbox/private', 0, 'fp8', 1024, 100],
      );
      deepEqual([disabled.status, disabled.maxPromptTokens, disabled.latencyLast30m], [-10, null, null]);
    },
    async 'endpoints: those that keep nothing'() {
      const { data } = await client.endpoints.listZdrEndpoints();
      ok(data.some(({ tag, status }) => tag === 'sandbox/private' && status === 0));
      ok(data.every(({ status }) => Number.isInteger(status)));
    },
    async 'providers: list'() {
      const { data } = await client.providers.list({});
      deepEqual(
        data.map(({ name, slug, privacyPolicyUrl }) => [name, slug, privacyPolicyUrl]),
        [['Sandbox', 'sandbox', null]],
      );
    },
    async 'listings: for any key; what is wrong is its own class'() {
      ok((await clientOf(managementKey).models.list({})).data.length > 0);
      for (const [request, name] of [
        [() => client.endpoints.list({ author: 'no', slug: 'such' }), 'NotFoundResponseError'],
        [() => client.models.get({ author: 'no', slug: 'such' }), 'NotFoundResponseError'],
        [() => client.models.list({ context: -1 }), 'BadRequestResponseError'],
      ]) {
        equal((await errorOf(request())).constructor.name, name);
      }
    },
  };
}
