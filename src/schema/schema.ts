import type { ZodType } from 'zod';
import type { Issue } from '../base/refusal.ts';
import { validationIssues } from './chat/validate.ts';
import { withoutNulls } from './nulls.ts';

/**
 * A schema of any library that follows Standard Schema (https://standardschema.dev), such as zod, Valibot and ArkType,
 * in the version that the host app has. It must check synchronously.
 */
export interface Schema<Output = unknown> {
  /** The library's properties of the schema, by the standard. */
  readonly '~standard': {
    /** Version of the standard. */
    readonly version: 1;
    /** Name of the library. */
    readonly vendor: string;
    /** Checks a value. @returns the value as the schema has it, or what is wrong */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For the compiler alone: never there at run time. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of a schema for a value: `value` if the value fits, else `issues`. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that is wrong with a value. Callers see the message as the schema wrote it. */
export interface SchemaIssue {
  /** The expected value, as the schema words it. */
  readonly message: string;
  /** Keys that lead to the place; absent: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A check that is no schema: such as one that a schema was compiled to. */
export interface BodyCheck<Body> {
  /** As a schema of zod has it. */
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Body; error?: undefined }
    | { success: false; data?: undefined; error: { issues: readonly object[] } };
}

/** The value as the schema has it, or what is wrong with it, in words that may be shown to a caller. */
export type Checked<Output> = { value: Output; issues: null } | { issues: readonly Issue[] };

/** As zod reports an issue, and as `validationIssues` reads it. */
export type FoundIssue = Parameters<typeof validationIssues>[0]['issues'][number];

/**
 * Checks a value by a schema of ours or of the host app.
 * @throws TypeError for a schema that checks asynchronously
 */
export function checkBy<Output>(schema: Schema<Output> | BodyCheck<Output>, value: unknown): Checked<Output> {
  const found = issuesOf(schema, value);
  return 'issues' in found ? { issues: validationIssues(found) } : { value: found.value, issues: null };
}

/** The same, with issues that `validationIssues` has yet to read. */
export function issuesOf<Output>(
  schema: Schema<Output> | BodyCheck<Output>,
  value: unknown,
): { value: Output } | { issues: FoundIssue[] } {
  // zod's own issues say more than the standard's: `validationIssues` words them.
  if (!('~standard' in schema) || '_zod' in schema) {
    const own = schema as BodyCheck<Output>;
    const check = '_zod' in schema ? takingNulls(own, () => asZod(schema as Schema<Output>)) : own;
    const checked = check.safeParse(value);
    return checked.success ? { value: checked.data } : { issues: checked.error.issues as FoundIssue[] };
  }
  const checked = schema['~standard'].validate(value);
  if ('then' in checked) throw new TypeError(`A schema of ${schema['~standard'].vendor} checks asynchronously`);
  if (checked.issues === undefined) return { value: checked.value };
  const issues = checked.issues.map(({ path = [], message }): FoundIssue => {
    const keys = path.map((key) => (typeof key === 'object' ? key.key : key));
    return { code: 'custom', path: keys, message, params: { isWorded: true }, input: undefined };
  });
  return { issues };
}

/**
 * A check that takes null in an optional field as "not set". Where the schema gives null a meaning, null stays. A value
 * that fits as it is costs nothing more.
 * @param schema  what the check was made of
 */
export function takingNulls<Body>(check: BodyCheck<Body>, schema: () => ZodType): BodyCheck<Body> {
  return {
    safeParse(value) {
      const checked = check.safeParse(value);
      if (checked.success) return checked;
      const others = withoutNulls(schema(), value);
      return others === value ? checked : check.safeParse(others);
    },
  };
}

/** zod's own type, for what only zod can do. Every schema of ours is one of zod. */
export function asZod<Output>(schema: Schema<Output>): ZodType<Output, Output> {
  return schema as unknown as ZodType<Output, Output>;
}
