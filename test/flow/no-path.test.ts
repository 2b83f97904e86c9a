import { describe, expect, it } from 'vitest';
import { testGateway } from '../support/gateway.ts';

const told = async (path: string, method = 'POST') => {
  const { status, json } = await testGateway().call(method, path, method === 'POST' ? {} : undefined);
  return [status, json.error.message];
};
const all = 'It serves /chat/completions, /responses, /models and more, which GET /openapi.json lists';

describe('a path at which nothing is', () => {
  it.each([
    ['/v2/chat/completions', ': /v2 belongs to the base URL of the client, and is in the path once too often'],
    ['/api/v1/models', ': /api/v1 belongs to the base URL of the client, and is in the path once too often'],
    ['//chat/completions', '; without the superfluous slash, it is /chat/completions'],
    ['/chat/completion', '; did you mean "/chat/completions"?'],
    ['/chat/compeltions', '; did you mean "/chat/completions"?'],
    ['/response', '; did you mean "/responses"?'],
    ['/videos/generations', `: this gateway does not serve /videos. ${all}`],
    ['/images/variations', `. ${all}`],
    ['/threads/runs', `: this gateway does not serve /threads. ${all}`],
    ['/', `. ${all}`],
    ['/something/else', `. ${all}`],
    [`/${'x'.repeat(5_000)}`, `. ${all}`],
  ])('%s says what was probably meant', async (path, hint) => {
    expect(await told(path)).toEqual([404, `There is nothing at this path${hint}`]);
  });
  it('is not one that has a parameter, whatever is in its place', async () => {
    expect((await told('/models/acme/none', 'GET'))[1]).not.toContain('There is nothing at this path');
  });
});
