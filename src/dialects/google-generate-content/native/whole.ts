import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { WholeRequest } from '../../../call/native.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import { gatewayFieldNames } from '../../../schema/gateway-shape.ts';
import { camelName, fieldOf, textOf } from '../../../schema/gemini/fields.ts';
import { asksForPricedSearch, isPricedSearch } from '../../../schema/gemini/search.ts';
import { googleSettings } from '../../../schema/gemini/settings.ts';
import { noSignature } from '../../../schema/gemini/signature.ts';
import type { DialectRequest, EncodedRequest } from '../../dialect.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { headersOf, pathOf, tierHeaders } from '../host.ts';
import { familyOf, isGemini3, type ModelFamily } from '../model-family.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { choicesOf } from '../request/generation-config.ts';

/** Fields that stay here: those for the gateway, and the name of the model, which is in the path. */
const ownFields: ReadonlySet<string> = new Set([...gatewayFieldNames, 'model']);
/**
 * Fields with which a request costs no more than its tokens. Where money is limited, any other is left out: a field that
 * nobody here knows may cost anything.
 */
const bounded: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'serviceTier',
  'labels',
  'store',
]);
/** The same for the fields of `generationConfig` and `toolConfig`. */
const boundedSettings: ReadonlySet<string> = new Set(googleSettings.keys());
const boundedChoices: ReadonlySet<string> = new Set(['functionCallingConfig', 'retrievalConfig']);
/** Beside functions, Google wants to be told that it may search. */
const boundedWithSearch: ReadonlySet<string> = new Set([...boundedChoices, 'includeServerSideToolInvocations']);

/** The names of other fields in a chat request, by Google's: `dropParams` of a provider may have either. */
const chatNames: Readonly<Record<string, readonly string[]>> = {
  toolConfig: ['tool_choice'],
  serviceTier: ['service_tier'],
};

/** Settings that the gateway may change on the way, with their names in a chat request. */
const adjusted = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
] as const;

interface Fitting {
  quirks: GoogleQuirks;
  family: ModelFamily;
  isLimited: boolean;
  /** true: money is held for searches of Google's. */
  holdsSearches: boolean;
  dropped: Set<string>;
}

/**
 * Encodes the request of a client of this wire format: the body goes on as it came, without the fields for the gateway and
 * the name of the model. Fields may be written in two ways, which stay as they are.
 */
export function encodeWhole(input: DialectRequest<GoogleQuirks>, whole: WholeRequest): EncodedRequest {
  const { request, upstreamModel, quirks, isLimited = false } = input;
  if (isLimited && fieldOf(whole.body, 'cachedContent') !== undefined)
    throw unsupported(
      'cachedContent',
      'its contents: money is limited, and nobody here can count the tokens of a cache',
    );
  const holdsSearches = input.paysForSearches === true && asksForPricedSearch(whole.body);
  const fitting: Fitting = { quirks, family: familyOf(upstreamModel), isLimited, holdsSearches, dropped: new Set() };
  const payload: Loose = {};
  let tier: unknown = null;
  for (const [key, value] of Object.entries(whole.body)) {
    const field = camelName(key);
    if (ownFields.has(key) || ownFields.has(field)) continue;
    if (field === 'serviceTier' && quirks.serviceTier === 'header') tier = value;
    else if (value !== null && isLeftOut(field, bounded, fitting)) fitting.dropped.add(key);
    else payload[key] = fittedField(field, value, fitting);
    if (payload[key] === undefined) delete payload[key];
  }
  adjust(payload, whole.request, request);
  return {
    path: pathOf(upstreamModel, request),
    headers: headersOf(request, tierHeaders(typeof tier === 'string' ? tier.toLowerCase() : null, quirks)),
    payload,
    body: stringifyExact(payload),
    choices: choicesOf(request),
    dropped: [...fitting.dropped],
    reading: { nativeEvents: true },
  };
}

/** true: the provider refuses the field, or money is limited and nobody knows its cost. */
function isLeftOut(field: string, known: ReadonlySet<string>, { quirks, isLimited }: Fitting): boolean {
  const names = [field, ...(googleSettings.get(field)?.chat ?? chatNames[field] ?? [])];
  return (isLimited && !known.has(field)) || quirks.dropParams?.some((one) => names.includes(one)) === true;
}

function fittedField(field: string, value: unknown, fitting: Fitting): unknown {
  if (field === 'contents') return fittedContents(value, fitting);
  // Google knows a text by its part alone.
  if (field === 'systemInstruction') return typeof value === 'string' ? { parts: [{ text: value }] } : value;
  if (field === 'tools') return fittedTools(value, fitting);
  if (field === 'toolConfig') {
    const known = fitting.holdsSearches ? boundedWithSearch : boundedChoices;
    return withoutSettings(value, 'toolConfig', known, fitting);
  }
  if (field === 'generationConfig') return withoutSettings(value, 'generationConfig', boundedSettings, fitting);
  return value;
}

function withoutSettings(value: unknown, path: string, known: ReadonlySet<string>, fitting: Fitting): unknown {
  if (!isObject(value)) return value;
  const { quirks, family } = fitting;
  const hasNoPenalties = quirks.penaltiesIn25 === false && family.generation === 2.5;
  const left = Object.entries(value).filter(([name, one]) => {
    const field = camelName(name);
    const isRefused = hasNoPenalties && /^(?:presence|frequency)Penalty$/.test(field);
    const isOut = one !== null && (isRefused || isLeftOut(field, known, fitting));
    if (isOut) fitting.dropped.add(`${path}.${name}`);
    return !isOut;
  });
  return left.length === Object.keys(value).length ? value : Object.fromEntries(left);
}

/** Takes out tools that cost more than is held for the request, where money is limited. */
function fittedTools(tools: unknown, { isLimited, holdsSearches, dropped }: Fitting): unknown {
  if (!isLimited || !Array.isArray(tools)) return tools;
  const left = tools.filter(isObject).flatMap((tool) => {
    const isHeld = (name: string) =>
      camelName(name) === 'functionDeclarations' || (holdsSearches && isPricedSearch(name, tool[name]));
    const paid = Object.keys(tool).filter((name) => tool[name] !== null && !isHeld(name));
    for (const name of paid) dropped.add(`tools[].${name}`);
    if (paid.length === 0) return [tool];
    const own = Object.entries(tool).filter(([name]) => !paid.includes(name));
    return own.length === 0 ? [] : [Object.fromEntries(own)];
  });
  return left.length === 0 ? undefined : left;
}

/** Fits turns to the model and its host, which change no other part of them. */
function fittedContents(contents: unknown, { quirks, family }: Fitting): unknown {
  if (!Array.isArray(contents)) return contents;
  return contents.map((content: unknown) => {
    const parts: unknown = isObject(content) ? content.parts : null;
    if (!isObject(content) || !Array.isArray(parts)) return content;
    let own = parts as Loose[];
    if (content.role === 'model' && isGemini3(family)) own = signed(own);
    if (quirks.callIds === false) own = own.map(withoutId);
    const isSame = own.every((part, at) => part === parts[at]);
    return isSame ? content : { ...content, parts: own };
  });
}

/** Marks the first call of a turn whose calls have no signature: another model made them. */
function signed(parts: Loose[]): Loose[] {
  const calls = parts.filter((part) => fieldOf(part, 'functionCall') !== undefined);
  if (calls.length === 0 || calls.some((part) => textOf(part, 'thoughtSignature'))) return parts;
  return parts.map((part) => (part === calls[0] ? { ...part, thoughtSignature: noSignature } : part));
}

/** Takes the id out of a call or its response. */
function withoutId(part: Loose): Loose {
  for (const name of Object.keys(part)) {
    const value = part[name];
    if (!/^function(?:Call|Response)$/.test(camelName(name)) || !isObject(value) || value.id === undefined) continue;
    const { id: _, ...left } = value;
    return { ...part, [name]: left };
  }
  return part;
}

/** Writes the settings that the gateway has changed, such as a largest output that the model allows. */
function adjust(payload: Loose, asked: ChatRequest, sent: ChatRequest): void {
  const largest = sent.max_completion_tokens ?? sent.max_tokens ?? null;
  if (largest !== (asked.max_completion_tokens ?? asked.max_tokens ?? null)) set(payload, 'maxOutputTokens', largest);
  for (const [field, name] of adjusted) if (sent[name] !== asked[name]) set(payload, field, sent[name]);
  if (sent.stop !== asked.stop) set(payload, 'stopSequences', sent.stop ? [sent.stop].flat() : null);
}

/** Sets a field of `generationConfig`, however the two are spelled; null takes it out. */
function set(payload: Loose, field: string, value: unknown): void {
  const own = Object.keys(payload).find((key) => camelName(key) === 'generationConfig') ?? 'generationConfig';
  const config = isObject(payload[own]) ? payload[own] : {};
  const left = Object.entries(config).filter(([name]) => camelName(name) !== field);
  payload[own] = Object.fromEntries(value == null ? left : [...left, [field, value]]);
}
