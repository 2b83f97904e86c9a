import { describe, expect, it } from 'vitest';
import type { ByokCredential } from '../../../../src/call/facts.ts';
import { type CredentialUse, credentialFits } from '../../../../src/stores/credentials/fits.ts';

const open: ByokCredential = {
  id: 'a',
  provider: 'openai',
  isFallback: false,
  allowedModels: null,
  allowedUserIds: null,
  allowedApiKeyHashes: null,
};
const hash = 'a'.repeat(64);
const use: CredentialUse = { model: 'openai/gpt-4.1', user: 'ann', apiKeyHash: hash };

describe('a credential fits a request', () => {
  it.each<[string, Partial<ByokCredential>, Partial<CredentialUse>, boolean]>([
    ['without restrictions', {}, {}, true],
    ['without restrictions, whoever asks', {}, { user: null, apiKeyHash: null }, true],
    ['whose model is allowed', { allowedModels: ['openai/o3', 'openai/gpt-4.1'] }, {}, true],
    ['whose model fits a pattern', { allowedModels: ['openai/*'] }, {}, true],
    ['but not one of another model', { allowedModels: ['openai/o3', 'azure/*'] }, {}, false],
    ['whose user is allowed', { allowedUserIds: ['bob', 'ann'] }, {}, true],
    ['but not one of another user', { allowedUserIds: ['bob'] }, {}, false],
    ['but not one whose user only fits a pattern', { allowedUserIds: ['a*'] }, {}, false],
    ['but not one of nobody', { allowedUserIds: ['ann'] }, { user: null }, false],
    ['but not one of nobody where the list is empty', { allowedUserIds: [] }, { user: null }, false],
    ['whose api key is allowed', { allowedApiKeyHashes: ['b'.repeat(64), hash] }, {}, true],
    ['but not one of another api key', { allowedApiKeyHashes: ['b'.repeat(64)] }, {}, false],
    ['but not one without an api key', { allowedApiKeyHashes: [hash] }, { apiKeyHash: null }, false],
    ['but none where no model is allowed', { allowedModels: [] }, {}, false],
    ['but none where no user is allowed', { allowedUserIds: [] }, {}, false],
    ['but none where no api key is allowed', { allowedApiKeyHashes: [] }, {}, false],
    [
      'that meets all of three',
      { allowedModels: ['*'], allowedUserIds: ['ann'], allowedApiKeyHashes: [hash] },
      {},
      true,
    ],
    [
      'but not one that meets two of three',
      { allowedModels: ['*'], allowedUserIds: ['ann'], allowedApiKeyHashes: [] },
      {},
      false,
    ],
  ])('%s', (_, restrictions, request, expected) => {
    expect(credentialFits({ ...open, ...restrictions }, { ...use, ...request })).toBe(expected);
  });
});
