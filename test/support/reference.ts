import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, it } from 'vitest';

/** The folder with recordings and reference schemas that lies beside the project and is no part of it. */
const sharedUrl = new URL('../../../shared/', import.meta.url);
const documentUrl = new URL('interface/reference-openapi.json', sharedUrl);

/** false in a user's clone. */
export const sharedAvailable: boolean = existsSync(documentUrl);

/** Path of a file in that folder, such as `fixtures/openai`. */
export function sharedPath(relative: string): string {
  return fileURLToPath(new URL(relative, sharedUrl));
}

/** The published specification of Responses. */
const specificationUrl = new URL('interface/openresponses.json', sharedUrl);

let parsed: object | undefined;
let ajv: Ajv2020 | undefined;
let specification: Ajv2020 | undefined;
const validators = new Map<string, ValidateFunction>();

/**
 * Checks a value against one of the reference document's schemas.
 * @param schemaName  key of `components.schemas`, such as `ChatResult`
 * @returns what is wrong, as `/json/pointer: message`; empty when the value is valid
 * @throws when the document is not there or has no such schema
 */
export function validateAgainstReference(schemaName: string, value: unknown): string[] {
  return referenceErrors(schemaName, value).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`);
}

/** As `validateAgainstReference`, with all that ajv knows of each error. */
export function referenceErrors(schemaName: string, value: unknown): ErrorObject[] {
  const validate = validators.get(schemaName) ?? compile(schemaName);
  return validate(value) ? [] : [...(validate.errors ?? [])];
}

/** As `referenceErrors`, against the published specification of Responses. */
export function specificationErrors(schemaName: string, value: unknown): ErrorObject[] {
  const key = `specification ${schemaName}`;
  let validate = validators.get(key);
  if (validate === undefined) {
    if (specification === undefined) {
      specification = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
      specification.addSchema(JSON.parse(readFileSync(specificationUrl, 'utf8')) as object, 'specification');
    }
    validate = specification.compile({ $ref: `specification#/components/schemas/${schemaName}` });
    validators.set(key, validate);
  }
  return validate(value) ? [] : [...(validate.errors ?? [])];
}

/**
 * Checks the body of an answer against what the reference document says of an operation's.
 * @param operation  method and path as the document writes it, such as `get /keys/{hash}`
 * @returns as `validateAgainstReference`; null: the document does not describe this answer
 */
export function validateAnswerAgainstReference(operation: string, status: number, value: unknown): string[] | null {
  const name = `${operation} ${status}`;
  const [method = '', path = ''] = operation.split(' ');
  const pointer = ['paths', path, method, 'responses', `${status}`, 'content', 'application/json', 'schema'];
  if (!validators.has(name)) {
    let described: unknown = document();
    for (const key of pointer) described = (described as Record<string, unknown> | undefined)?.[key];
    if (described === undefined) return null;
    const escaped = pointer.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')));
    validators.set(name, compileAt(escaped.join('/')));
  }
  const validate = validators.get(name) as ValidateFunction;
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`);
}

function document(): object {
  parsed ??= JSON.parse(readFileSync(documentUrl, 'utf8')) as object;
  return parsed;
}

function compile(schemaName: string): ValidateFunction {
  const validate = compileAt(`components/schemas/${schemaName}`);
  validators.set(schemaName, validate);
  return validate;
}

function compileAt(pointer: string): ValidateFunction {
  if (ajv === undefined) {
    // OpenAPI's own keywords and formats (discriminator, double, int32) are not ajv's to judge. The document is of 3.1,
    // so that null is a type of its own and `nullable` does not occur.
    ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema(document(), 'reference');
  }
  return ajv.compile({ $ref: `reference#/${pointer}` });
}

const warned = Symbol.for('model-gateway.test.shared-missing');

/**
 * A `describe` for tests that need the shared folder. Without it they are skipped, with one loud line; with
 * REQUIRE_SHARED=1 they fail instead.
 */
export function describeWithShared(name: string, define: () => void): void {
  if (sharedAvailable) {
    describe(name, define);
    return;
  }
  if (process.env.REQUIRE_SHARED === '1') {
    throw new Error(`REQUIRE_SHARED=1, but ${fileURLToPath(documentUrl)} is not there`);
  }
  const state = globalThis as { [warned]?: boolean };
  if (state[warned] !== true) {
    state[warned] = true;
    console.warn(`\n!!! SKIPPED: tests against ${fileURLToPath(sharedUrl)}, which is not there !!!\n`);
  }
  // Its body is not run, not even to collect the tests: it may read the folder.
  describe.skip(name, () => {
    it('needs the shared folder', () => {});
  });
}
