/**
 * The weight of an item. `problem`: something is missing, and needs work. `warning`: it works in another way. `note`:
 * there is nothing to do.
 */
export type Level = 'problem' | 'warning' | 'note';

/** A part of the file that does not act in the new config as it did. */
export interface Item {
  level: Level;
  /** The place in the file, of names alone: a value might be a secret. */
  where: string;
  /** The rest of a sentence that begins with the place: what became of it. */
  what: string;
  /** The thing to do; null: nothing. */
  advice: string | null;
}

/** The findings of an import. */
export interface Report {
  readonly items: readonly Item[];
  problem(where: string, what: string, advice?: string | null): void;
  warning(where: string, what: string, advice?: string | null): void;
  note(where: string, what: string): void;
  add(level: Level, where: string, what: string, advice?: string | null): void;
  /** Counts a model of the file. */
  model(name: string): void;
  /** Says that callers can ask for a model. */
  imported(name: string): void;
  /** Says that a model needs work, imported or not. */
  needsWork(name: string): void;
  /** The models of the file, in order. */
  models(): readonly { name: string; isImported: boolean; needsWork: boolean }[];
}

export function createReport(): Report {
  const items: Item[] = [];
  const seen = new Set<string>();
  const models = new Map<string, { isImported: boolean; needsWork: boolean }>();
  const stateOf = (name: string) => {
    const state = models.get(name) ?? { isImported: false, needsWork: false };
    models.set(name, state);
    return state;
  };
  const add: Report['add'] = (level, where, what, advice = null) => {
    const item = { level, where: shownName(where), what, advice };
    const id = JSON.stringify([level, item.where, what]);
    if (seen.size < seen.add(id).size) items.push(item);
  };
  return {
    items,
    add,
    problem: (where, what, advice) => add('problem', where, what, advice),
    warning: (where, what, advice) => add('warning', where, what, advice),
    note: (where, what) => add('note', where, what),
    model: (name) => void stateOf(name),
    imported(name) {
      stateOf(name).isImported = true;
    },
    needsWork(name) {
      stateOf(name).needsWork = true;
    },
    models: () =>
      [...models].map(([name, { isImported, needsWork }]) => ({
        name,
        isImported,
        needsWork: needsWork || !isImported,
      })),
  };
}

const levels: readonly Level[] = ['problem', 'warning', 'note'];
const mostNames = 5;

/** The report as text: a summary, then the items, the worst first. */
export function shownReport(report: Report): string {
  const sorted = levels.flatMap((level) => report.items.filter((item) => item.level === level));
  const lines = sorted.flatMap(({ level, where, what, advice }) => [
    `${level.padEnd(8)} ${where}: ${what}`,
    ...(advice === null ? [] : [`${' '.repeat(9)}→ ${advice}`]),
  ]);
  return [summary(report), ...lines, ''].join('\n');
}

/** One line, such as `13 of 15 models; 2 need work: a, b. 3 problems, 1 warning, 4 notes.` */
export function summary(report: Report): string {
  const models = report.models();
  const imported = models.filter(({ isImported }) => isImported).length;
  const open = models.filter(({ needsWork }) => needsWork).map(({ name }) => shownName(name));
  const named = open.length > mostNames ? [...open.slice(0, mostNames), `${open.length - mostNames} more`] : open;
  const needing =
    open.length === 0 ? '' : `; ${open.length} need${open.length === 1 ? 's' : ''} work: ${named.join(', ')}`;
  const counts = levels.flatMap((level) => {
    const count = report.items.filter((item) => item.level === level).length;
    return count === 0 ? [] : [`${count} ${level}${count === 1 ? '' : 's'}`];
  });
  const found = counts.length === 0 ? ' Nothing is lost.' : ` ${counts.join(', ')}.`;
  return `${imported} of ${models.length} model${models.length === 1 ? '' : 's'}${needing}.${found}`;
}

/** A name from the file, as far as a terminal may show it. */
export function shownName(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}
