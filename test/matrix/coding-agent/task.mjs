// The model of these tests, in no wire format: it decides by the conversation alone. Its task has three steps: read a
// file, change the file by what was read, say so. What it writes holds the number that it has read, so a step is right
// only if the output of the tool came back.
import { compactionItem } from '../upstreams/responses.mjs';

/** The files of the folder that the agent works in. */
export const filesOf = (ticket) => ({ 'notes.txt': `status: open\nticket: ${ticket}\n` });
/** What the agent is told to do. */
export const prompt = 'Close the ticket in notes.txt.';
/** What the file holds in the end. */
export const closedFile = (ticket) => `status: closed as ${ticket}\nticket: ${ticket}\n`;
/** The last message of the agent. */
export const farewell = (ticket) => `The ticket ${ticket} is closed – “notes.txt” says so.`;

const thoughts = { read: 'First the file. ✓', edit: 'The number is known.', answer: 'The file is changed.' };
/** Whether a text is made of the model's thoughts, each whole: an answer that broke off may leave its thought behind. */
export function isThought(text) {
  let rest = text;
  for (const thought of Object.values(thoughts)) rest = rest.replaceAll(thought, '');
  return text !== '' && rest.trim() === '';
}

/** What the model says and calls next; see `startUpstream`. */
export function answerTo({ tools, texts }) {
  const all = texts.join('\n');
  const ticket = /ticket: (\d+)/.exec(all)?.[1];
  const last = texts.at(-1);
  if (last === compactionItem) return answer('compact to an item', summaryOf(ticket), []);
  if (summaryRequests.some((words) => last.startsWith(words))) return answer('compact', summaryOf(ticket), []);
  if (ticket === undefined) return answer('read', 'I read the notes. ', readCalls(tools));
  if (!/^edited$|Updated the following files/m.test(all)) return answer('edit', '', [editCall(tools, ticket)]);
  return answer('answer', farewell(ticket), []);
}

const answer = (step, text, calls) => ({ step, reasoning: thoughts[step] ?? null, text, calls });

/** How a summary is asked for: by the agent, and by the gateway for an upstream that does not compact. */
const summaryRequests = ['You are performing a CONTEXT CHECKPOINT COMPACTION.', 'The conversation is too long'];

/** What a long conversation is replaced by. */
const summaryOf = (ticket) => `notes.txt has been read. It says ticket: ${ticket}. The ticket has yet to be closed.`;

const readCommand = 'cat notes.txt';
const editCommand = (ticket) => `sed -i 's/open/closed as ${ticket}/' notes.txt && echo edited`;
const patch = (ticket) =>
  [
    '*** Begin Patch',
    '*** Update File: notes.txt',
    '@@',
    '-status: open',
    `+status: closed as ${ticket}`,
    ` ticket: ${ticket}`,
    '*** End Patch',
    '',
  ].join('\n');

function readCalls(tools) {
  const script = find(tools, 'exec');
  if (script !== undefined) return [{ tool: script, input: commandScript(readCommand) }];
  // Two calls in one answer.
  return ['ls', readCommand].map((cmd) => ({ tool: shellOf(tools), input: { cmd } }));
}

function editCall(tools, ticket) {
  const script = find(tools, 'exec');
  if (script !== undefined) return { tool: script, input: patchScript(patch(ticket)) };
  const patching = find(tools, 'apply_patch');
  if (patching !== undefined) return { tool: patching, input: patch(ticket) };
  return { tool: shellOf(tools), input: { cmd: editCommand(ticket) } };
}

/** Programs for an agent whose only tool runs JavaScript. */
const commandScript = (cmd) =>
  `const { output } = await tools.exec_command(${JSON.stringify({ cmd })});\ntext(output);`;
const patchScript = (text) => `await tools.apply_patch(${JSON.stringify(text)});\ntext('edited');`;

/** The tool of that name; the name of a namespace may stand in front. */
const find = (tools, wanted) => tools.find(({ name }) => new RegExp(`(^|[_-])${wanted}$`).test(name));

function shellOf(tools) {
  const shell = find(tools, 'exec_command');
  if (shell !== undefined) return shell;
  throw new Error(`no tool runs commands: ${tools.map(({ name }) => name).join(', ')}`);
}
