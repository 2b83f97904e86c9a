// What the upstreams of all wires share: how they cut what they send, and how they sign their thoughts.

/** Pieces as small as tokens; a cut may be within a character that has two halves. */
export const piecesOf = (text) => text.match(/[\s\S]{1,7}/g) ?? [];

/** Who signs for Anthropic's models: a signature is valid wherever they are served. */
export const claude = 'claude';

/** Thoughts go out signed, and have to come back as they went: to the same signer alone. */
export const sealThought = (signer, text) => Buffer.from(`sealed by ${signer}: ${text}`).toString('base64');

/** @returns the thought; or, for whoever compares it with a thought, what is wrong with the signature */
export function openThought(signer, sealed) {
  const text = Buffer.from(sealed ?? '', 'base64').toString();
  const start = `sealed by ${signer}: `;
  return text.startsWith(start) ? text.slice(start.length) : `not what ${signer} has sealed: ${sealed}`;
}

/** The text of a content that is a text, or parts of which some have a text. */
export function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n');
}

/** @returns what is wrong with the results behind calls: one for each call, and none for anything else */
export function pairProblems(calls, results) {
  const missing = calls.filter((id) => !results.includes(id)).map((id) => `the call ${id} has no result behind it`);
  const lone = results.filter((id) => !calls.includes(id)).map((id) => `the result ${id} has no call before it`);
  const double = results.filter((id, at) => results.indexOf(id) !== at).map((id) => `${id} has two results`);
  return [...missing, ...lone, ...double];
}

/** Arguments are an object; the input of a custom tool is a text, which goes into the one argument of a function. */
export const argumentsOf = (input) => (typeof input === 'string' ? { input } : input);
