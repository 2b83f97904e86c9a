// A model that speaks Google's generateContent.
import { argumentsOf, openThought, piecesOf, sealThought } from './text.mjs';

const model = 'scripted-1';
/** What Google takes in place of a signature, of a call that it has not signed. */
const noSignature = 'skip_thought_signature_validator';

export const google = {
  provider: { dialect: 'google-generate-content' },
  model,
  path: ({ isStream }) => `/v1/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  count: { path: `/v1/models/${model}:countTokens`, body: (tokens) => ({ totalTokens: tokens }) },
  isStream: ({ url }) => url.includes(':streamGenerateContent'),
  read: readGoogle,
  events: googleEvents,
  whole: googleResponse,
  full: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: 'The input token count (131072) exceeds the maximum number of tokens allowed (128000).',
  },
  limited: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Resource has been exhausted' },
  overloaded: [503, { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' }],
  last: '',
};

/** What a body of POST …:generateContent tells the model. */
function readGoogle({ systemInstruction = { parts: [] }, contents, tools = [] }) {
  const ofModel = contents.filter(({ role }) => role === 'model').map(({ parts }) => parts);
  const ofUser = contents.filter(({ role }) => role !== 'model').flatMap(({ parts }) => parts);
  const firstCalls = ofModel.map((parts) => parts.find((part) => part.functionCall)).filter(Boolean);
  return {
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations),
    texts: [...systemInstruction.parts, ...ofUser].map(textIn),
    // The signature is at the first call of a turn, and has to come back there.
    thoughts: firstCalls
      .filter(({ thoughtSignature }) => thoughtSignature !== noSignature)
      .map(({ thoughtSignature }) => openThought('google', thoughtSignature)),
    results: ofUser.filter((part) => part.functionResponse).length,
    hasCalls: firstCalls.length > 0,
    problems: [...turnProblems(contents), ...signatureProblems(ofModel.flat())],
  };
}

function textIn({ text, functionResponse }) {
  return text ?? textsIn(functionResponse?.response).join('\n');
}

function textsIn(value) {
  if (typeof value === 'string') return [value];
  return Object.values(value ?? {}).flatMap(textsIn);
}

/** Neighbours of one role are one turn. Behind a turn with calls, the next one has the response to each, in any order. */
function turnProblems(contents) {
  const turns = [];
  for (const { role, parts } of contents) {
    if (turns.at(-1)?.role === role) turns.at(-1).parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  const problems = turns[0]?.role === 'user' ? [] : ['the first turn is not of the user'];
  const named = (parts, field) => parts.filter((part) => part[field]).map((part) => part[field].name);
  let calls = [];
  for (const { role, parts } of turns) {
    if (parts.length === 0) problems.push('a turn is empty');
    const responses = named(parts, 'functionResponse');
    if (responses.toSorted().join() !== calls.toSorted().join())
      problems.push(`behind the calls of ${calls.join(', ')} stand the responses of ${responses.join(', ')}`);
    calls = role === 'model' ? named(parts, 'functionCall') : [];
  }
  return problems;
}

function signatureProblems(parts) {
  const signatures = parts
    .flatMap(({ thoughtSignature }) => thoughtSignature ?? [])
    .filter((one) => one !== noSignature);
  return signatures.map((one) => openThought('google', one)).filter((text) => text.startsWith('not what'));
}

const headOf = ({ id, model, inputTokens }) => ({
  usageMetadata: {
    promptTokenCount: inputTokens,
    cachedContentTokenCount: 100,
    candidatesTokenCount: 32,
    thoughtsTokenCount: 8,
    totalTokenCount: inputTokens + 40,
  },
  modelVersion: model,
  responseId: `google_${id}`,
});

const candidateOf = (parts, more) => ({ candidates: [{ index: 0, content: { role: 'model', parts }, ...more }] });

function callParts(reasoning, calls) {
  const signature = reasoning === null ? {} : { thoughtSignature: sealThought('google', reasoning) };
  return calls.map(({ tool: { name }, input }, at) => {
    return { functionCall: { name, args: argumentsOf(input) }, ...(at === 0 ? signature : {}) };
  });
}

/** The events of a streamed response. */
function googleEvents({ reasoning, text, calls }, head) {
  const parts = [
    ...piecesOf(reasoning ?? '').map((piece) => ({ text: piece, thought: true })),
    ...piecesOf(text).map((piece) => ({ text: piece })),
    ...callParts(reasoning, calls),
  ];
  const event = (own, more) => ({ ...candidateOf(own, more), ...headOf(head) });
  return [...parts.map((part) => event([part])), event([{ text: '' }], { finishReason: 'STOP' })];
}

function googleResponse({ reasoning, text, calls }, head) {
  const parts = [
    ...(reasoning === null ? [] : [{ text: reasoning, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    ...callParts(reasoning, calls),
  ];
  return { ...candidateOf(parts, { finishReason: 'STOP' }), ...headOf(head) };
}
