import ts from 'typescript';

/** The part of a JSON Schema that comments are written into. */
export interface DescribedSchema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  maxLength?: number;
  description?: string;
  required?: string[];
  properties?: Record<string, DescribedSchema>;
  items?: DescribedSchema | false;
  additionalProperties?: DescribedSchema | boolean;
  anyOf?: DescribedSchema[];
  oneOf?: DescribedSchema[];
  allOf?: DescribedSchema[];
}

/** The exported schemas of `src/schema`, by name of their function, with the types that they infer. */
export function schemaTypes(program: ts.Program): ReadonlyMap<string, ts.Type> {
  const checker = program.getTypeChecker();
  const found = new Map<string, ts.Type>();
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.includes('/src/schema/')) continue;
    const module = checker.getSymbolAtLocation(file);
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const [call] = checker.getTypeOfSymbol(symbol).getCallSignatures();
      const output = call && call.parameters.length === 0 && call.getReturnType().getProperty('_output');
      if (output) found.set(symbol.name, checker.getTypeOfSymbol(output));
    }
  }
  return found;
}

/** Writes the comments of a type's members into its schema, as descriptions. What is a component of its own stays. */
export function writeComments(schema: DescribedSchema, type: ts.Type, checker: ts.TypeChecker): void {
  if (schema.$ref !== undefined) return;
  const types = type.isUnion() ? type.types : [type];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const members = types.flatMap((one) => one.getProperty(name) ?? []);
    const comment = members.map((one) => commentOf(one, checker)).find((text) => text !== '');
    if (comment !== undefined && property.description === undefined) property.description = comment;
    for (const member of members) writeComments(property, checker.getTypeOfSymbol(member), checker);
  }
  for (const variant of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    writeComments(variant, variantOf(variant, types, checker) ?? type, checker);
  for (const one of types) {
    const item = one.getNumberIndexType();
    if (schema.items && item) writeComments(schema.items, item, checker);
    const value = one.getStringIndexType();
    if (typeof schema.additionalProperties === 'object' && value)
      writeComments(schema.additionalProperties, value, checker);
  }
}

/** The member of a union that has all properties of a variant. */
function variantOf(variant: DescribedSchema, types: readonly ts.Type[], checker: ts.TypeChecker): ts.Type | undefined {
  const names = Object.keys(variant.properties ?? {});
  if (names.length === 0) return undefined;
  const literal = variant.properties?.type?.const;
  const fitting = types.filter((one) => names.every((name) => one.getProperty(name)));
  const same = fitting.find((one) => {
    const symbol = one.getProperty('type');
    const type = symbol && checker.getTypeOfSymbol(symbol);
    return type?.isStringLiteral() && type.value === literal;
  });
  return same ?? fitting[0];
}

function commentOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, ' ');
}
