// What docs/openapi.json and the reference document say differently of the operations that both have.
import type { DescribedSchema } from './schema-comments.ts';

/** A document of OpenAPI 3.1, as far as this file reads it. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: { schemas: Record<string, DescribedSchema>; responses?: Record<string, unknown> };
}

interface ApiOperation {
  parameters?: { name: string; in: string; required?: boolean; schema?: DescribedSchema }[];
  requestBody?: { content: Record<string, { schema: DescribedSchema }> };
  responses: Record<string, { content?: Record<string, { schema?: DescribedSchema }>; $ref?: string }>;
}

/** One thing that differs. */
export interface Difference {
  /** Such as `POST /workspaces`. */
  operation: string;
  place: 'operation' | 'parameter' | 'request' | 'response' | 'event' | 'status';
  /** Such as `data[].name`, or a status; '' where all of it differs. */
  field: string;
  /** What is there in one document alone, or how the two differ. */
  what: string;
}

/** What is known of a field over all variants of its schema. */
interface Field {
  types: Set<string>;
  values: Set<string> | null;
  isRequired: boolean;
}

type Fields = Map<string, Field>;

/** All differences, in the order of the reference. */
export function differences(ours: ApiDocument, reference: ApiDocument): Difference[] {
  return operationsOf(reference).flatMap(([operation, theirs]) => {
    const [method = '', path = ''] = operation.split(' ');
    const own = ours.paths[path]?.[method.toLowerCase()];
    if (!own) return [{ operation, place: 'operation', field: '', what: 'only in the reference' }];
    const compare = (place: Difference['place'], a: Fields, b: Fields) =>
      fieldDifferences(a, b, place === 'request' || place === 'parameter').map((one) => ({ operation, place, ...one }));
    return [
      ...compare('parameter', parametersOf(own), parametersOf(theirs)),
      ...compare('request', bodyOf(ours, own), bodyOf(reference, theirs)),
      ...compare('response', resultOf(ours, own, 'application/json'), resultOf(reference, theirs, 'application/json')),
      ...compare('event', resultOf(ours, own, 'text/event-stream'), resultOf(reference, theirs, 'text/event-stream')),
      ...statusDifferences(own, theirs).map((one) => ({ operation, place: 'status' as const, ...one })),
    ];
  });
}

function operationsOf({ paths }: ApiDocument): [string, ApiOperation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, ApiOperation] => [`${method.toUpperCase()} ${path}`, one]),
  );
}

function parametersOf({ parameters = [] }: ApiOperation): Fields {
  const read = parameters.filter(({ in: place }) => place === 'query');
  return new Map(read.map(({ name, required }) => [name, { types: new Set(), values: null, isRequired: !!required }]));
}

function bodyOf(document: ApiDocument, { requestBody }: ApiOperation): Fields {
  return fieldsOf(document, requestBody?.content['application/json']?.schema);
}

function resultOf(document: ApiDocument, { responses }: ApiOperation, type: string): Fields {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const schema = success?.[1].content?.[type]?.schema;
  const named = document.components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
  // The reference describes all fields of an event, of which `data` holds the JSON.
  const data = type === 'text/event-stream' && named?.properties?.data;
  return fieldsOf(document, data || schema);
}

function statusDifferences(own: ApiOperation, theirs: ApiOperation): Pick<Difference, 'field' | 'what'>[] {
  const has = ({ responses }: ApiOperation) => new Set(Object.keys(responses));
  const [a, b] = [has(own), has(theirs)];
  return [
    ...[...b].filter((one) => !a.has(one)).map((field) => ({ field, what: 'only in the reference' })),
    ...[...a].filter((one) => !b.has(one)).map((field) => ({ field, what: 'only here' })),
  ];
}

/** Every field with its place, such as `data[].name`; variants of a schema count as one. */
function fieldsOf(document: ApiDocument, schema: DescribedSchema | undefined): Fields {
  const fields: Fields = new Map();
  const visit = (at: DescribedSchema | undefined, place: string, inside: readonly string[], isRequired: boolean) => {
    if (!at || typeof at !== 'object') return;
    if (at.$ref !== undefined) {
      const name = at.$ref.split('/').at(-1) as string;
      if (!inside.includes(name)) visit(document.components.schemas[name], place, [...inside, name], isRequired);
      // A schema that holds itself.
      else if (!fields.has(place)) fields.set(place, { types: new Set(), values: null, isRequired });
      return;
    }
    const field = fields.get(place) ?? { types: new Set<string>(), values: new Set<string>(), isRequired };
    fields.set(place, field);
    for (const type of typesOf(at)) field.types.add(type);
    const values = at.const !== undefined ? [at.const] : at.enum;
    // Whether null is one of them, the type says.
    const named = values?.filter((value) => value !== null).map((value) => JSON.stringify(value));
    if (named && field.values) for (const value of named) field.values.add(value);
    else if (!named && typesOf(at).some((type) => type !== 'null')) field.values = null;
    for (const variant of [...(at.anyOf ?? []), ...(at.oneOf ?? []), ...(at.allOf ?? [])])
      visit(variant, place, inside, isRequired);
    for (const [name, property] of Object.entries(at.properties ?? {}))
      visit(property, place === '' ? name : `${place}.${name}`, inside, at.required?.includes(name) ?? false);
    if (at.items) visit(at.items, `${place}[]`, inside, false);
  };
  visit(schema, '', [], true);
  return fields;
}

function typesOf({ type, properties, const: constant, enum: values }: DescribedSchema): string[] {
  if (type !== undefined)
    return (Array.isArray(type) ? type : [type]).map((one) => (one === 'integer' ? 'number' : one));
  if (properties) return ['object'];
  return (constant !== undefined ? [constant] : (values ?? [])).map((one) => (one === null ? 'null' : typeof one));
}

/**
 * What readers of the reference must know: of a request what is refused here, and what is taken here alone; of a response
 * what may be missing, and what there is besides.
 */
function fieldDifferences(own: Fields, theirs: Fields, isRequest: boolean): Pick<Difference, 'field' | 'what'>[] {
  const found: Pick<Difference, 'field' | 'what'>[] = [];
  const add = (field: string, is: boolean, what: string) => is && found.push({ field, what });
  for (const [field, { types, values, isRequired }] of theirs) {
    const mine = own.get(field);
    if (!mine) {
      add(field, !isBelowMissing(field, own), 'only in the reference');
      continue;
    }
    if (types.size > 0 && mine.types.size > 0) {
      const lost = missingIn(types, mine.types);
      const more = missingIn(mine.types, types);
      add(field, lost.length > 0, `never ${lost.join(' or ')}`);
      add(field, more.length > 0, `also ${more.join(' or ')}`);
    }
    add(field, isRequest && mine.isRequired && !isRequired, 'required here');
    add(field, !isRequest && !mine.isRequired && isRequired, 'may be absent here');
    if (values && mine.values) {
      const lost = missingIn(values, mine.values);
      const more = missingIn(mine.values, values);
      add(field, lost.length > 0, `never ${lost.join(', ')}`);
      add(field, more.length > 0, `also ${more.join(', ')}`);
    }
    add(field, !!values && mine.values === null && mine.types.size > 0, 'any value');
    add(field, values === null && !!mine.values?.size && types.size > 0, `only ${[...(mine.values ?? [])].join(', ')}`);
  }
  for (const field of own.keys()) add(field, !theirs.has(field) && !isBelowMissing(field, theirs), 'only here');
  return found;
}

function missingIn(some: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...some].filter((one) => !others.has(one));
}

/** Whether what holds a field is not there either, which is said once. */
function isBelowMissing(field: string, fields: Fields): boolean {
  const parent = field.replace(/(?:\[\]|\.[^.[\]]+)$/, '');
  return parent !== field && parent !== '' && !fields.has(parent);
}
