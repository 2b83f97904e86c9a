import { Source, variable, type Written } from '../config-source.ts';

/** A mapping of a YAML file. */
export type Mapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of its own; undefined where it is absent, or null, which YAML writes for nothing. */
export function memberOf(mapping: Mapping, name: string): unknown {
  return Object.hasOwn(mapping, name) ? (mapping[name] ?? undefined) : undefined;
}

export function mappingOf(mapping: Mapping, name: string): Mapping {
  const member = memberOf(mapping, name);
  return isMapping(member) ? member : {};
}

export function textOf(mapping: Mapping, name: string): string | undefined {
  const member = memberOf(mapping, name);
  return typeof member === 'string' && member !== '' ? member : undefined;
}

/** A number, also one that YAML reads as text, such as `1e-6`. */
export function numberOf(mapping: Mapping, name: string): number | undefined {
  const member = memberOf(mapping, name);
  const number = typeof member === 'string' && member.trim() !== '' ? Number(member) : member;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function textsOf(mapping: Mapping, name: string): string[] {
  const member = memberOf(mapping, name);
  return Array.isArray(member) ? member.filter((one) => typeof one === 'string') : [];
}

/**
 * The findings of an import: the environment variables, and the settings that cannot be expressed. It keeps the values
 * of secrets away from everything that is printed.
 */
export class Findings {
  /** The settings that cannot be expressed, in order, each with its place and advice. */
  readonly items: string[] = [];
  /** Variables with the values that stood in the file, for the `.env` file. */
  readonly secrets = new Map<string, string>();
  /** Variables that have to be set elsewhere. */
  readonly needed = new Set<string>();

  /** @param path  of names alone: a value might be a secret */
  cannot(path: string, advice: string): void {
    const clean = path.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
    this.items.push(`${clean}: ${advice}`);
  }

  /** Lists each member that is not among the known ones. */
  cannotOthers(path: string, mapping: Mapping, known: ReadonlySet<string>, advice: string): void {
    for (const name of Object.keys(mapping)) if (!known.has(name)) this.cannot(`${path}.${name}`, advice);
  }

  /**
   * A secret as an expression. `os.environ/X` becomes the variable X; a literal moves into a variable of the `.env`
   * file.
   * @param name  of the variable for a literal; one that is taken gets a number
   */
  secret(value: string, name: string): Source {
    const referred = environmentName(value);
    if (referred !== null) {
      this.needed.add(referred);
      return variable(referred);
    }
    return variable(this.keep(value, name));
  }

  /** Puts a literal into the `.env` file. @returns the name of its variable */
  keep(value: string, wanted: string): string {
    const base = wanted
      .toUpperCase()
      .replace(/\W+/g, '_')
      .replace(/^(?=\d)/, '_');
    for (let at = 1; ; at++) {
      const name = at === 1 ? base : `${base}_${at}`;
      const taken = this.secrets.get(name);
      if (taken === value) return name;
      if (taken !== undefined || this.needed.has(name)) continue;
      this.secrets.set(name, value);
      return name;
    }
  }

  /** An address: one that holds credentials or a query is a secret. */
  address(value: string, suffix: string, name: string): Written {
    const referred = environmentName(value);
    if (referred !== null) {
      this.needed.add(referred);
      return suffix === '' ? variable(referred) : new Source(`\`\${process.env.${referred}}${suffix}\``);
    }
    const full = value.replace(/(?<!\/)\/+$/, '') + suffix;
    const url = URL.canParse(full) ? new URL(full) : null;
    return url && url.username === '' && url.password === '' && url.search === '' ? full : this.secret(full, name);
  }
}

/** The variable that `os.environ/X` names; null: the value is a literal. */
export function environmentName(value: string): string | null {
  const name = /^os\.environ\/([A-Za-z_]\w*)$/.exec(value)?.[1];
  return name ?? null;
}

/** A price as a decimal without an exponent. */
export function decimal(value: number): string {
  return value.toFixed(15).replace(/\.?0+$/, '');
}
