// docs/openapi.json, from the operations and their schemas. `npm run docs` writes it; a test fails where it differs.
import { readdirSync, readFileSync } from 'node:fs';
import type ts from 'typescript';
import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from 'zod-openapi';
import { operations } from '../src/operations/index.ts';
import type { Operation } from '../src/operations/operation.ts';
import { failures, headerParameters, operationTexts, type ParameterText, parameters, tags } from './openapi-texts.ts';
import { type DescribedSchema, schemaTypes, writeComments } from './schema-comments.ts';
import { projectRoot } from './source-program.ts';

/** Where it is written, from the project's folder. */
export const documentPath = 'docs/openapi.json';

/** As far as this file reads it. */
interface OpenApiDocument {
  paths: Record<string, unknown>;
  components: { schemas: Record<string, DescribedSchema> };
}

interface ParameterObject {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: DescribedSchema;
}

/** Every operation of a gateway with default options. */
export const described: readonly Operation[] = operations({
  brand: 'service',
  pipeline: { plugins: [] },
  byokProviders: new Map(),
  bounds: {},
} as never);

/** The document as a file. @throws Error for an operation without a text */
export async function writeDocument(program: ts.Program): Promise<string> {
  const schemas = await componentSchemas();
  const { version } = JSON.parse(readFileSync(`${projectRoot}/package.json`, 'utf8')) as { version: string };
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const operation of described) {
    const path = operation.path.replaceAll(/:(\w+)\+?/g, '{$1}').replace('[:]', ':');
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, schemas) };
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'model-gateway',
        version,
        description:
          'The interface of a gateway with default options. Errors are described in docs/errors.md, and what differs ' +
          'from the reference in docs/interface-differences.md.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/v1', description: 'Where the gateway is mounted' }],
      security: [{ bearer: [] }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        responses: Object.fromEntries(
          failures.map(({ name, status, meaning }) => [
            name,
            {
              description: `${status}: ${meaning}`,
              content: { 'application/json': { schema: schemaNamed(schemas, 'ErrorBody') } },
            },
          ]),
        ),
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key of the gateway' },
        },
      },
    },
    { override: ({ zodSchema, jsonSchema }) => adjust(zodSchema, jsonSchema as z.core.JSONSchema.BaseSchema) },
  ) as OpenApiDocument;
  describeComponents(document, program);
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** What zod writes and readers of the document do not need, or would take for more than it is. */
function adjust(zodSchema: z.core.$ZodTypes, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { def } = zodSchema._zod;
  // A schema that is a function checks a text.
  if (def.type === 'custom') jsonSchema.type = 'string';
  // Later versions may add fields to responses.
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
  // The format says it.
  if (/^date|^uuid$/.test(jsonSchema.format ?? '')) delete jsonSchema.pattern;
}

/** What `src/schema` exports, such as `chatRequestSchema` as `ChatRequest`: each becomes a component where it is used. */
async function componentSchemas(): Promise<ReadonlyMap<string, z.ZodType>> {
  const schemas = new Map<string, z.ZodType>();
  const files = readdirSync(`${projectRoot}/src/schema`, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((one) => one.endsWith('.ts')).sort()) {
    const path = `../src/schema/${file}`;
    const module = (await import(path)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) {
      if (!name.endsWith('Schema') || typeof value !== 'function') continue;
      const schema: unknown = value();
      if (!(schema instanceof z.ZodType)) continue;
      const id = componentName(name);
      z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
      schemas.set(id, schema);
    }
  }
  return schemas;
}

function componentName(schemaName: string): string {
  return schemaName[0]?.toUpperCase() + schemaName.slice(1, -'Schema'.length);
}

function schemaNamed(schemas: ReadonlyMap<string, z.ZodType>, name: string): z.ZodType {
  const schema = schemas.get(name);
  if (!schema) throw new Error(`src/schema has no schema for the component ${name}`);
  return schema;
}

function describe(operation: Operation, schemas: ReadonlyMap<string, z.ZodType>): ZodOpenApiOperationObject {
  const text = operationTexts[operation.name];
  if (!text) throw new Error(`scripts/openapi-texts.ts says nothing of ${operation.name}`);
  const { tag, summary, description, status = 200, events } = text;
  const content: Record<string, { schema: z.ZodType }> = {};
  if (!events?.always) content['application/json'] = { schema: operation.result() as z.ZodType };
  if (events) content['text/event-stream'] = { schema: schemaNamed(schemas, events.schema) };
  const needs =
    operation.permissions.length === 1 ? `Needs a key with the permission \`${operation.permissions[0]}\`.` : '';
  return {
    operationId: operation.name,
    tags: [tag],
    ...(operation.isPublic ? { security: [] } : {}),
    summary,
    ...(description || needs ? { description: [description, needs].filter(Boolean).join(' ') } : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation), ...headersOf(operation)] as never,
    ...(operation.body === null
      ? {}
      : {
          requestBody: {
            required: operation.isBodyOptional !== true,
            content: Object.fromEntries(
              ['application/json', ...(operation.form === undefined ? [] : ['multipart/form-data'])].map((type) => [
                type,
                { schema: bodyOf(operation, schemas) },
              ]),
            ),
          },
        }),
    responses: { [`${status}`]: { description: 'Success', content }, ...failureResponses(operation) },
  };
}

function bodyOf(operation: Operation, schemas: ReadonlyMap<string, z.ZodType>): z.ZodType {
  const name = operationTexts[operation.name]?.body;
  return name === undefined ? (operation.body?.() as z.ZodType) : schemaNamed(schemas, name);
}

function pathParameters({ path }: Operation): ParameterObject[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...parameterOf(parameters[`path.${name}`], name, { type: 'string' }),
  }));
}

function queryParameters({ query, name: operation }: Operation): ParameterObject[] {
  if (!query) return [];
  const schema = query() as z.ZodType;
  // What is done with a query before it is checked says nothing of its form.
  const checked = schema instanceof z.ZodPipe ? (schema.out as z.ZodType) : schema;
  const { properties = {}, required = [] } = z.toJSONSchema(checked, { io: 'input' });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...parameterOf(parameters[`${operation}.${name}`] ?? parameters[name], name, schema as DescribedSchema),
  }));
}

function headersOf({ name: operation }: Operation): ParameterObject[] {
  return headerParameters
    .filter(({ of }) => of === undefined || of.includes(operation))
    .map(({ name, schema, meaning }) => ({ name, in: 'header', required: false, description: meaning, schema }));
}

/** @param schema  of the text that stands in the address */
function parameterOf(text: ParameterText | undefined, name: string, schema: DescribedSchema) {
  if (!text) throw new Error(`scripts/openapi-texts.ts says nothing of the parameter ${name}`);
  return { description: text.meaning, schema: text.schema ?? schema };
}

function failureResponses({ name: operation, permissions, body, isPublic }: Operation): ZodOpenApiResponsesObject {
  const isInference = body !== null && permissions.includes('inference');
  // What is public asks for no key, and names nothing that may be missing.
  const possible = isPublic ? failures.filter(({ status }) => ![401, 403, 404].includes(status)) : failures;
  return Object.fromEntries(
    possible
      .filter(
        ({ of, also }) =>
          of === 'all' ||
          (of === 'body' && body !== null) ||
          (of === 'inference' && isInference) ||
          also?.includes(operation),
      )
      .map(({ name, status }) => [`${status}`, { $ref: `#/components/responses/${name}` }]),
  );
}

function describeComponents(document: OpenApiDocument, program: ts.Program): void {
  const checker = program.getTypeChecker();
  const schemas = document.components.schemas;
  for (const [schemaName, type] of schemaTypes(program)) {
    const name = componentName(schemaName);
    for (const one of [name, `${name}Output`]) if (schemas[one]) writeComments(schemas[one], type, checker);
  }
}
