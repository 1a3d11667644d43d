/** Every flag of every command, with strange words behind it, and words where no flag is. */
import type { RandomStream } from '../../lib/core/random.ts';
import { pick, type Draft, type Surface } from './case.ts';
import { flagsOfObjects, words } from './values.ts';

interface Flag {
  readonly name: string;
  readonly takesValue: boolean;
  /** Where the help names them. */
  readonly choices: readonly string[];
}

/** As commander's help shows them. */
export function flagsIn(help: string): Flag[] {
  const starts = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z][a-z-]*)( [<[][^>\]]+[>\]])?/gm)];
  return starts.map((match, index) => {
    const about = help.slice(match.index, starts[index + 1]?.index);
    const [, listed = ''] = /\(choices: ([^)]*?)(?:, default|\))/s.exec(about) ?? [];
    const choices = [...listed.matchAll(/"([^"]*)"/g)].map(([, choice = '']) => choice);
    return { name: match[1] ?? '', takesValue: match[2] !== undefined, choices };
  });
}

export interface FlagOptions {
  /** Words that stand before and behind, so that nothing is run or made. */
  readonly before: (folder: string) => readonly string[];
  readonly behind: readonly string[];
  /** Codes that are right where nothing must be refused. */
  readonly allowed: readonly number[];
}

const positional = 'a word that is no flag';
const unknown = 'a flag that is none';

export function flagSurface(help: string, options: FlagOptions): Surface {
  const { before, behind, allowed } = options;
  const flags = flagsIn(help);
  return {
    name: 'flags',
    fields: [...flags.map(({ name }) => name), positional, unknown],
    make(field, draws, folder) {
      const around = (how: string, ...strange: string[]): Draft => ({
        args: [...before(folder), ...strange, ...behind],
        how: `${how} ${JSON.stringify(strange.join(' ').slice(0, 60))}`,
        allowed,
      });
      if (field === positional) return around('word', pick(draws, words));
      const flag = flags.find(({ name }) => name === field);
      if (flag === undefined) return around('unknown', unknownFlag(flags, draws));
      if (!flag.takesValue) return around('given', ...switched(flag, draws));
      return valued(flag, draws, around, [...before(folder), flag.name]);
    },
  };
}

/** One that is nearly right, or that objects have. */
function unknownFlag(flags: readonly Flag[], draws: RandomStream): string {
  if (flags.length === 0 || draws.int(0, 1) === 0) return pick(draws, flagsOfObjects);
  const { name } = pick(draws, flags);
  return name.slice(0, -1);
}

const switched = ({ name }: Flag, draws: RandomStream): string[] =>
  pick(draws, [[name], [name, name], [`${name}=yes`], [name.replace('--', '--no-')]]);

function valued(
  { name, choices }: Flag,
  draws: RandomStream,
  around: (how: string, ...strange: string[]) => Draft,
  last: readonly string[],
): Draft {
  const value = pick(draws, draws.int(0, 3) === 0 && choices.length > 0 ? choices : words);
  switch (draws.int(0, 5)) {
    case 0:
      return { args: last, how: `${name} without its value`, allowed: [2] };
    case 1:
      return around('joined', `${name}=${value}`);
    case 2:
      return around('twice', name, pick(draws, words), name, value);
    default:
      return around('with', name, value);
  }
}
