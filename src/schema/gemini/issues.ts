import type { Issue } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { camelName, fieldOf, listOf, numberOf, objectOf } from './fields.ts';
import type { GeminiRequest } from './request.ts';
import { isStoredName } from './stored.ts';

/** The most issues that one response lists. */
const mostIssues = 20;

/** Settings that are numbers. One that is none would have no effect here, and another one elsewhere. */
const numbers = [
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'logprobs',
] as const;

/** Receives a fault. */
type Add = (path: string, message: string) => void;

/** Finds faults that the schema does not: the caller gets status 400. */
export function geminiIssues(request: GeminiRequest): readonly Issue[] {
  const issues: Issue[] = [];
  const add: Add = (path, message) => {
    if (issues.length < mostIssues) issues.push({ path, message });
  };
  addTwice(request, '', add);
  addSettingIssues(request, add);
  request.contents.forEach((content, at) => {
    const { role, parts } = content;
    addTwice(content, `contents[${at}]`, add);
    if (role != null && !/^(?:user|model|function|system|)$/.test(role))
      add(`contents[${at}].role`, 'expected "user" or "model"');
    (parts ?? []).forEach((part, place) => void addPartIssues(part, `contents[${at}].parts[${place}]`, add));
  });
  const holdsContent = request.contents.some(({ parts }) => (parts ?? []).length > 0);
  if (!holdsContent) add('contents[0].parts', 'expected at least one part');
  return issues;
}

/** A field may be written in two ways. Where it is written in both, nobody can say which one a provider takes. */
function addTwice(value: Loose | null, path: string, add: Add): void {
  for (const name in value) {
    const other = camelName(name);
    if (other !== name && value[name] != null && value[other] != null)
      add(path === '' ? name : `${path}.${name}`, `expected either ${name} or ${other}`);
  }
}

function addSettingIssues(request: GeminiRequest, add: Add): void {
  const config = objectOf(request, 'generationConfig');
  const tools = objectOf(request, 'toolConfig');
  addTwice(config, 'generationConfig', add);
  addTwice(objectOf(config, 'thinkingConfig'), 'generationConfig.thinkingConfig', add);
  addTwice(objectOf(config, 'imageConfig'), 'generationConfig.imageConfig', add);
  addTwice(tools, 'toolConfig', add);
  addTwice(objectOf(tools, 'functionCallingConfig'), 'toolConfig.functionCallingConfig', add);
  (request.tools ?? []).forEach((tool, at) => {
    addTwice(tool, `tools[${at}]`, add);
    for (const one of listOf(tool, 'functionDeclarations'))
      if (isObject(one)) addTwice(one, `tools[${at}].functionDeclarations[]`, add);
  });
  for (const name of numbers)
    if (fieldOf(config, name) !== undefined && numberOf(config, name) === undefined)
      add(`generationConfig.${name}`, 'expected a number');
  const thinking = objectOf(config, 'thinkingConfig');
  if (fieldOf(thinking, 'thinkingBudget') !== undefined && numberOf(thinking, 'thinkingBudget') === undefined)
    add('generationConfig.thinkingConfig.thinkingBudget', 'expected a number');
}

function addPartIssues(part: Loose, path: string, add: Add): void {
  addTwice(part, path, add);
  for (const name of ['functionCall', 'functionResponse']) {
    const one = fieldOf(part, name);
    if (one === undefined) continue;
    if (!isObject(one) || typeof one.name !== 'string' || one.name === '')
      add(`${path}.${name}.name`, 'expected the name of the function');
    if (name === 'functionCall' && isObject(one) && one.args != null && !isObject(one.args))
      add(`${path}.functionCall.args`, 'expected an object');
    listOf(one, 'parts').forEach((inner, at) => {
      if (isObject(inner)) addMediaIssues(inner, `${path}.${name}.parts[${at}]`, add);
    });
  }
  if (part.text != null && typeof part.text !== 'string') add(`${path}.text`, 'expected a text');
  addMediaIssues(part, path, add);
}

function addMediaIssues(part: Loose, path: string, add: Add): void {
  const inline = fieldOf(part, 'inlineData');
  if (inline !== undefined) {
    if (isObject(inline)) addTwice(inline, `${path}.inlineData`, add);
    const isWhole =
      typeof fieldOf(inline, 'mimeType') === 'string' && isObject(inline) && typeof inline.data === 'string';
    if (!isWhole) add(`${path}.inlineData`, 'expected mimeType, and data as base64');
  }
  const file = fieldOf(part, 'fileData');
  if (file === undefined) return;
  if (isObject(file)) addTwice(file, `${path}.fileData`, add);
  const uri = fieldOf(file, 'fileUri');
  if (typeof uri !== 'string' || !(/^https?:\/\//.test(uri) || isStoredName(uri)))
    add(`${path}.fileData.fileUri`, 'expected an http(s) URL, or inlineData');
}
