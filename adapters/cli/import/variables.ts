import { Source, variable, type Written } from '../config-source.ts';

/** The environment variables of the new config. They keep the values of secrets away from everything that is printed. */
export interface Variables {
  /** Variables with the values that stood in the file, for the `.env` file. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Variables that have to be set elsewhere. */
  readonly needed: ReadonlySet<string>;
  /** A variable that somebody else sets, as an expression. */
  refer(name: string): Source;
  /** The same, of a text that the config needs. */
  referRequired(name: string): Source;
  /** Sets a variable by its own name. */
  set(name: string, value: string): void;
  /** Puts a literal into the `.env` file. @returns the name of its variable; one that is taken gets a number */
  keep(value: string, wanted: string): string;
  /** A secret as an expression: a reference to a variable stays one, a literal moves into the `.env` file. */
  secret(value: string, wanted: string): Source;
  /** A text that is not secret: a reference becomes an expression, a literal stays. */
  text(value: string): Written;
  /** An address. One that holds credentials or a query is a secret. */
  address(value: string, suffix: string, wanted: string): Written;
}

/**
 * @param nameIn  the variable that a value of the file refers to; null: the value is a literal
 * @param taken     variables that are set already, and keep their values
 * @param reserved  names that no literal may take: another place of the file refers to them
 */
export function createVariables(
  nameIn: (value: string) => string | null,
  taken: ReadonlyMap<string, string> = new Map(),
  reserved: ReadonlySet<string> = new Set(),
): Variables {
  const secrets = new Map<string, string>();
  const needed = new Set<string>();
  const literals = new Set<string>();
  const kept = new Map<string, string>();
  const numbers = new Map<string, number>();
  const refer = (name: string) => {
    if (!secrets.has(name) || literals.has(name)) needed.add(name);
    return variable(name);
  };
  const keep = (value: string, wanted: string) => {
    const base = wanted
      .toUpperCase()
      .replace(/\W+/g, '_')
      .replace(/^(?=\d)/, '_');
    const id = `${base} ${value}`;
    const earlier = kept.get(id);
    if (earlier !== undefined) return earlier;
    for (let at = numbers.get(base) ?? 1; ; at++) {
      numbers.set(base, at);
      const name = at === 1 ? base : `${base}_${at}`;
      const known = secrets.get(name) ?? taken.get(name);
      if (known === value) return name;
      if (known !== undefined || needed.has(name) || reserved.has(name)) continue;
      secrets.set(name, value);
      literals.add(name);
      kept.set(id, name);
      return name;
    }
  };
  const secret = (value: string, wanted: string) => {
    const name = nameIn(value);
    return name === null ? variable(keep(value, wanted)) : refer(name);
  };
  return {
    secrets,
    needed,
    refer,
    referRequired: (name) => required(refer(name)),
    set: (name, value) => void secrets.set(name, value),
    keep,
    secret,
    text(value) {
      const name = nameIn(value);
      return name === null ? value : refer(name);
    },
    address(value, suffix, wanted) {
      const name = nameIn(value);
      if (name !== null) {
        const source = refer(name);
        return suffix === '' ? source : new Source(`\`\${process.env.${name}}${suffix}\``);
      }
      const full = value.replace(/(?<!\/)\/+$/, '') + suffix;
      const url = URL.canParse(full) ? new URL(full) : null;
      return url && url.username === '' && url.password === '' && url.search === '' ? full : secret(full, wanted);
    },
  };
}

/** An expression for a text that must be there: the gateway says at its start that it is missing. */
export function required(source: Source): Source {
  return new Source(source.text.replace(' || undefined', ''));
}

/** The name of a variable, where a text is one. */
export function variableName(text: string | undefined): string | null {
  return text !== undefined && /^[A-Za-z_]\w{0,127}$/.test(text) ? text : null;
}
