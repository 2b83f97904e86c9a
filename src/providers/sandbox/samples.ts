import { isObject } from '../../base/values.ts';
import { keysAskedFor, numberBehind } from './asked-for.ts';
import { Refusal, type SandboxRequest, textOf } from './request.ts';
import { sampleJson } from './sample-json/index.ts';
import { SampleError } from './sample-json/scalar.ts';

/**
 * JSON that fits the schema of the request; without one a small object, with the keys that the last message of the user
 * asks for.
 * @throws Refusal
 */
export function jsonText({ jsonSchema, messages }: SandboxRequest): string {
  if (jsonSchema === undefined) {
    const last = messages.findLast(({ role }) => role === 'user');
    const keys = last === undefined ? [] : keysAskedFor(textOf(last));
    const asked = Object.fromEntries(
      keys.map(({ key, type }) => [key, Object.hasOwn(plain, type) ? plain[type] : 'sandbox']),
    );
    return JSON.stringify(keys.length > 0 ? asked : { sandbox: true, message: 'The sandbox made this object.' });
  }
  return JSON.stringify(sampleFor(jsonSchema, 'response_format.json_schema.schema'));
}

/** Values of the types that a text may name. */
const plain: Readonly<Record<string, unknown>> = {
  number: 0,
  integer: 0,
  float: 0,
  boolean: true,
  bool: true,
  array: [],
  list: [],
  object: {},
  null: null,
};

/**
 * JSON arguments for a function. A number without bounds is the one after its name in the text of the user.
 * @throws Refusal
 */
export function argumentsText({ name, parameters }: SandboxRequest['tools'][number], said = ''): string {
  const values = parameters === undefined || parameters === null ? {} : sampleFor(parameters, `tools: ${name}`);
  const properties = isObject(parameters) && isObject(parameters.properties) ? parameters.properties : {};
  if (isObject(values))
    for (const [key, schema] of Object.entries(properties)) {
      const number = isFreeNumber(schema) && Object.hasOwn(values, key) ? numberBehind(key, said) : null;
      if (number !== null && (Number.isInteger(number) || (schema as { type: string }).type === 'number'))
        values[key] = number;
    }
  return JSON.stringify(values);
}

function isFreeNumber(schema: unknown): boolean {
  if (!isObject(schema) || (schema.type !== 'integer' && schema.type !== 'number')) return false;
  return Object.keys(schema).every((keyword) => ['type', 'description', 'title', 'default'].includes(keyword));
}

function sampleFor(schema: unknown, param: string): unknown {
  try {
    return sampleJson(schema);
  } catch (error) {
    if (error instanceof SampleError)
      throw new Refusal(`The sandbox cannot make a value for ${param}: ${error.message}`, { param });
    throw error;
  }
}
