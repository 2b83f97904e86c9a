import { describe, expect, it } from 'vitest';
import { bindsThoughts, readsThoughtsOf, signerOf } from '../../../src/dialects/shared/thought-bindings.ts';

const fable = 'claude-fable-5-1';
const opus = 'claude-opus-5-5';
const sonnet = 'claude-sonnet-5-5';
const older = ['claude-opus-4-8', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5', 'claude-3-7-sonnet-20250219'];

describe('the facts of bound thoughts', () => {
  it.each([fable, opus, sonnet, 'eu.anthropic.claude-opus-5-5-v1:0', 'claude-sonnet-5-5@20261001', 'claude-opus-6'])(
    '%s binds its thoughts',
    (model) => expect(bindsThoughts(model)).toBe(true),
  );
  it.each([...older, 'claude-fable-5', 'gpt-6', 'some-model'])('%s does not', (model) =>
    expect(bindsThoughts(model)).toBe(false),
  );
  it.each([
    [fable, fable, true],
    [fable, opus, true],
    [opus, fable, false],
    [sonnet, fable, false],
    [sonnet, opus, false],
    [opus, opus, true],
    ...older.flatMap((one): [string, string, boolean][] => [
      [fable, one, true],
      [opus, one, true],
      [one, opus, false],
      [one, fable, false],
    ]),
    // Not known: the provider decides.
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/x', fable, true],
  ])('%s, asked for the thoughts of %s: %j', (reader, signer, expected) =>
    expect(readsThoughtsOf(reader, signer)).toBe(expected),
  );

  const account = '123456789012';
  it.each([
    [`arn:aws:bedrock:us-east-1:${account}:inference-profile/us.anthropic.claude-opus-5-5-v1:0`, opus],
    ['eu.anthropic.claude-fable-5-1-v1:0', fable],
    ['claude-sonnet-5-5@20261001', sonnet],
    ['claude-opus-6', 'claude-opus-6-0'],
  ])('%s signs as %s, with the same readers', (model, signer) => {
    expect(signerOf(model)).toBe(signer);
    expect(signerOf(signer)).toBe(signer);
    for (const reader of [fable, opus, sonnet, ...older]) {
      expect(readsThoughtsOf(reader, signer)).toBe(readsThoughtsOf(reader, model));
    }
  });
  it.each([...older, 'gpt-6'])('%s signs no binding thought', (model) => expect(signerOf(model)).toBeNull());
});
