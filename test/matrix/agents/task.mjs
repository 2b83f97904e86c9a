// The model of the agents, in no wire format. Its task has four steps: read a file, change the file by what was read, copy
// it with a command, say so. What it writes holds the number that it has read, so a step is right only if the output of
// the tool came back. The tools are those of the agent, whatever their names and arguments are.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const thoughts = {
  read: 'First the file. ✓',
  edit: 'The number is known.',
  run: 'Now the copy.',
  answer: 'The file is changed.',
};
/** Whether a text is made of the model's thoughts, each whole: an answer that broke off may leave its thought behind. */
export function isThought(text) {
  let rest = text;
  for (const thought of Object.values(thoughts)) rest = rest.replaceAll(thought, '');
  return text !== '' && rest.trim() === '';
}

/** The last message of the agent. */
export const farewell = (ticket) => `The ticket ${ticket} is closed: notes.txt says so.`;

/**
 * A task, with the folder that the agent works in.
 * @returns `work`: the folder; `home`: another one; `answerTo`: the model, see `startUpstream`; `begin()` makes the files
 *   anew and gives the ticket; `outcome()`: what the files hold; `expected(ticket)`: what they should hold; `remove()`
 */
export function createTask() {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-agent-'));
  const [home, work] = ['home', 'work'].map((name) => join(folder, name));
  const note = join(work, 'notes.txt');
  const copy = join(work, 'copy.txt');
  let ticket = 48_150;
  const steps = {
    read: { names: ['Read', 'read', 'read_file'], values: { path: note }, command: `cat ${note}` },
    edit: { names: ['Edit', 'edit', 'replace'] },
    run: { names: [], values: {}, command: `cp ${note} ${copy} && echo copied` },
  };
  return {
    work,
    home,
    remove: () => rmSync(folder, { recursive: true, force: true }),
    begin() {
      ticket++;
      for (const path of [home, work]) mkdirSync(path, { recursive: true });
      rmSync(copy, { force: true });
      writeFileSync(note, `status: open\nticket: ${ticket}\n`);
      return ticket;
    },
    outcome: () => [note, copy].map((file) => readFileSync(file, 'utf8')),
    expected: (wanted) => Array(2).fill(`status: closed as ${wanted}\nticket: ${wanted}\n`),
    answerTo({ tools, texts, results }) {
      const all = texts.join('\n');
      const found = /ticket: (\d+)/.exec(all)?.[1];
      const shell = tools.find(({ name }) => shells.includes(name));
      // A title of the conversation, or another aside.
      if (shell === undefined) return { step: 'aside', reasoning: null, text: 'A ticket', calls: [] };
      const step = ['read', 'edit', 'run'][results];
      if (step === undefined) return answer('answer', farewell(all.includes('copied') ? found : 'unknown'), []);
      const { names, command, values } = step === 'edit' ? { ...steps.edit, ...editOf(note, found) } : steps[step];
      const tool = tools.find(({ name }) => names.includes(name));
      const call =
        tool === undefined
          ? { tool: shell, input: inputOf(shell, { command }) }
          : { tool, input: inputOf(tool, values) };
      return answer(step, step === 'read' ? 'I read the notes. ' : '', [call]);
    },
  };
}

const answer = (step, text, calls) => ({ step, reasoning: thoughts[step], text, calls });

const editOf = (note, found) => ({
  values: { path: note, before: 'status: open', after: `status: closed as ${found}` },
  command: `sed -i 's/open/closed as ${found}/' ${note} && echo edited`,
});

/** The names of tools that run a command. */
const shells = ['Bash', 'bash', 'run_shell_command', 'execute_command', 'run_commands', 'exec_command'];

/** How agents name the arguments of their tools. */
const meanings = {
  path: /^(file_?path|path|absolute_path|filepath)$/i,
  before: /^old_?(string|text|str)$/i,
  after: /^new_?(string|text|str)$/i,
  command: /^(command|cmd)$/i,
};

/** Fills in the arguments of a tool by its schema. */
function inputOf(tool, values) {
  const schema = tool.input_schema ?? tool.parametersJsonSchema ?? tool.parameters;
  return objectOf(schema, values);
}

function objectOf({ properties = {}, required = [] }, values) {
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const meaning = Object.keys(meanings).find((one) => meanings[one].test(name));
    if (meaning !== undefined && values[meaning] !== undefined) return [[name, values[meaning]]];
    return required.includes(name) ? [[name, fillerOf(schema, values)]] : [];
  });
  return Object.fromEntries(entries);
}

function fillerOf(schema, values) {
  const type = [schema.type].flat()[0]?.toLowerCase();
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 10;
  if (type === 'array')
    return [schema.items?.type === 'string' ? (values.command ?? values.path) : objectOf(schema.items ?? {}, values)];
  if (type === 'object') return objectOf(schema, values);
  return schema.enum?.[0] ?? 'Close the ticket';
}
