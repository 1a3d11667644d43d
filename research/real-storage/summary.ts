/** What the trials of a row come to: how each cell ends, which mode that is worth, and a sentence. */
import { type CellName, cellNames, cells, rows as known } from './cells.ts';
import type { Outcome, Watched } from './outcome.ts';
import { type TrialLine, userInitiator } from './result.ts';

export interface RowSummary {
  /** `nbd`; with a kernel's initiator `nbd (Linux 6.1)`. */
  readonly transport: string;
  readonly revocation: string;
  readonly cells: ReadonlyMap<CellName, CellSummary>;
  readonly worth: string;
  readonly gets: Gets;
  readonly sentence: string;
}

/** What the old node gets, in words; `others`: where that differs, and what follows. */
interface Gets {
  readonly living: string | undefined;
  readonly cutOff: string | undefined;
  readonly others: readonly string[];
}

/** `lands`: writes of the first node landed after the revocation, or after the heal. */
export type Ends = 'lands' | 'hangs' | 'error' | 'nothing';

export interface CellSummary {
  readonly trials: readonly Outcome[];
  /** The worst of its trials. */
  readonly ends: Ends;
  /** In how many trials it ended so. */
  readonly count: number;
}

const worstFirst: readonly Ends[] = ['lands', 'hangs', 'error', 'nothing'];

/** The watch that a cell is about. */
export const watchOf = (cell: CellName, outcome: Outcome): Watched => {
  const { after } = cells[cell];
  const followed = after === 'give-back' ? outcome.givenBack : outcome.reboot?.watched;
  if (after !== 'heal') return followed ?? outcome.revoked;
  return outcome.healed ?? outcome.revoked;
};

export function endsOf(cell: CellName, outcome: Outcome): Ends {
  const { at, landed, acks } = watchOf(cell, outcome);
  if (Math.max(landed ?? 0, acks) > 0) return 'lands';
  return at === 'goes on' ? 'lands' : at;
}

const summaryOf = (cell: CellName, trials: readonly Outcome[]): CellSummary => {
  const all = trials.map((outcome) => endsOf(cell, outcome));
  const ends = worstFirst.find((each) => all.includes(each)) ?? 'nothing';
  return { trials, ends, count: all.filter((each) => each === ends).length };
};

export function summarize(lines: readonly TrialLine[]): RowSummary[] {
  const rows = Map.groupBy(lines, ({ scenario }) => {
    const { transport, revocation, initiator } = scenario;
    const shown = initiator === userInitiator ? transport : `${transport} (${initiator})`;
    return JSON.stringify([shown, revocation]);
  });
  const place = ([key]: readonly [string, unknown]): number => {
    const [transport, revocation] = JSON.parse(key) as string[];
    const index = known.findIndex(
      (row) => row.transport === transport && row.revocation === revocation,
    );
    return index < 0 ? known.length : index;
  };
  return [...rows]
    .toSorted((x, y) => place(x) - place(y))
    .map(([key, own]) => {
      const [transport = '', revocation = ''] = JSON.parse(key) as string[];
      const byCell = cellNames.flatMap((cell) => {
        const trials = own.filter(({ scenario }) => scenario.cell === cell);
        const outcomes = trials.map(({ outcome }) => outcome);
        return trials.length === 0 ? [] : [[cell, summaryOf(cell, outcomes)] as const];
      });
      const found = new Map(byCell);
      const about = { transport, revocation, cells: found };
      const gets = getsOf(found);
      return { ...about, worth: worthOf(found), gets, sentence: sentenceOf(gets) };
    });
}

type Cells = RowSummary['cells'];

/** Where the first node's way was revoked while the second had the volume. */
const handOvers = cellNames.filter((cell) => cells[cell].after === 'heal');

/** The mode that the row comes to: the worst of its cells. */
function worthOf(found: Cells): string {
  const ends = handOvers.flatMap((cell) => found.get(cell)?.ends ?? []);
  if (ends.includes('lands')) return 'unfenced';
  const again = (['give-back', 'reboot'] as const).filter(
    (cell) => found.get(cell)?.ends === 'lands',
  );
  const until = { 'give-back': 'given back', reboot: 'connected again' } as const;
  const words = again.map((cell) => until[cell]).join(' or ');
  const kind = ends.includes('hangs') ? 'fenced, hangs' : 'fenced';
  const part = found.has('living') ? '' : ' (no living node tried)';
  return `${words === '' ? kind : `${kind} until ${words}`}${part}`;
}

function sentenceOf({ living, cutOff, others }: Gets): string {
  const parts = [
    living && `A living node ${living}`,
    cutOff && `${living ? 'cut off, it' : 'Cut off, the node'} ${cutOff}`,
  ].filter((part) => part !== undefined);
  return `${[...parts, ...others].join('; ')}.`;
}

function getsOf(found: Cells): Gets {
  const living = found.get('living');
  const healed = found.get('base') ?? found.get('cut-10');
  const others = handOvers.filter(
    (cell) =>
      cell !== 'living' &&
      healed !== undefined &&
      (found.get(cell)?.ends ?? healed.ends) !== healed.ends,
  );
  const differs = others.map(
    (cell) => `\`${cell}\` ${inWords(cell, found.get(cell) as CellSummary)}`,
  );
  const more = (['give-back', 'reboot'] as const).flatMap((cell) => {
    const summary = found.get(cell);
    return summary?.ends === 'lands'
      ? [`${cell === 'reboot' ? 'restarted' : 'given back'}, it ${inWords(cell, summary)}`]
      : [];
  });
  const refused = [...found.values()]
    .flatMap(({ trials }) => trials)
    .filter(({ second }) => second.failed !== null);
  const second =
    refused.length === 0 ? [] : [`the second node cannot attach in ${refused.length} trials`];
  const lost = [...found.values()]
    .flatMap(({ trials }) => trials)
    .reduce((sum, each) => sum + each.lost.a + each.lost.b, 0);
  const losses = lost === 0 ? [] : [`${lost} acknowledged writes are missing`];
  return {
    living: living && inWords('living', living),
    cutOff: healed && inWords('base', healed),
    others: [...differs, ...more, ...second, ...losses],
  };
}

/** Fits behind `the node`. */
function inWords(cell: CellName, { ends, trials, count }: CellSummary): string {
  const watches = trials
    .filter((outcome) => endsOf(cell, outcome) === ends)
    .map((outcome) => watchOf(cell, outcome));
  const of = count === trials.length ? '' : ` (${count} of ${trials.length})`;
  const since = watches.length > 0 && trials[0]?.healed ? ' the heal' : '';
  const after = (times: readonly (number | null)[]): string => `${span(times)} after${since}`;
  if (ends === 'hangs') return `hangs${of}`;
  if (ends === 'nothing') return `asks nothing${of}`;
  if (ends === 'error') {
    const errors = [...new Set(watches.flatMap(({ error }) => error ?? []))].join(', ');
    return `gets ${errors} ${after(watches.map(({ errorMs }) => errorMs))}${of}`;
  }
  // What a living node had under way is no queue.
  const replays =
    cell === 'living' ? 0 : watches.filter(({ replayed }) => (replayed ?? 0) > 0).length;
  const goesOn = watches.filter(({ at }) => at === 'goes on').length;
  const does = [
    replays > 0 ? `replays its queue (${replays} of ${trials.length})` : [],
    goesOn > 0 ? `writes on${of}` : [],
  ].flat();
  const first = after(watches.map(({ landedMs }) => landedMs));
  return `${does.join(' and ') || `has landed writes${of}`}, first ${first}`;
}

/** `2–49 ms`, `7.9–8.3 s`. */
export function span(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'at an unknown time';
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const inSeconds = most >= 1000;
  const shown = (ms: number): string => (inSeconds ? (ms / 1000).toFixed(1) : String(ms));
  const range = shown(least) === shown(most) ? shown(most) : `${shown(least)}–${shown(most)}`;
  return `${range} ${inSeconds ? 's' : 'ms'}`;
}
