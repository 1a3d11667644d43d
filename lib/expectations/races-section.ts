/** A section of docs/reference/expectations.md: each race that was counted, with its intervals, its load, alone and beside. */
import { medianOf } from '../counts.ts';
import { eventsIn, leastEvents, wordsWorstFirst } from '../experiment/expectation/counted.ts';
import { shortenedTimers, type Counts } from '../experiment/scenario.ts';
import { gatesText, minorOf } from '../kubernetes-versions.ts';
import { fisher, difference, type Count } from '../intervals.ts';
import { gradeOf } from './severity.ts';
import { percentText, shareText } from './counts.ts';
import { changedSettings, type RunLine } from './runs.ts';
import { countsOf, type FaultEvent, type Race } from './races.ts';
import { clientTiming, timing } from './scenario-key.ts';
import { markdownTable } from '../markdown-table.ts';

const heads = [
  ...['Race', 'Timers', 'Events', 'Came to', 'Damaged alone', 'Damaged beside others'],
  ...['Difference', 'Load', 'Kubernetes', 'Harness'],
];

export function racesSection(races: Iterable<Race>): string {
  const rows = [...races]
    .toSorted((a, b) => b.events.length - a.events.length || (nameOf(a) < nameOf(b) ? -1 : 1))
    .map(rowOf);
  return `${about}\n${markdownTable(heads, rows)}\n`;
}

const about = `## Races, counted

Where two nodes write one volume, chance decides what becomes of it. Each row counts independent fault events of one scenario (fields that are not named are stock; several volumes under one fault are one event, and the worst counts), with Wilson's 95 % intervals. From ${leastEvents} events on this is what a run is held against: a verdict that was never seen is unexpected, and the interval of 0 of n says how rare it may be. With fewer the outcome is **open**. *Alone*: nothing else ran on the machine. Their difference has Newcombe's 95 % interval, and *p* is Fisher's exact test. Load: the median over the events of the load average, and of the share of time in which a task waited for a processor (PSI), from the fault to the second image.
`;

function rowOf({ scenario, events }: Race): string[] {
  const counts = countsOf(events);
  const open = events.length < leastEvents ? ' (open)' : '';
  const [alone, beside] = [true, false].map((wanted) =>
    damagedIn(events.filter(({ line }) => line.machine.alone === wanted)),
  ) as [Count, Count];
  return [
    nameOf({ scenario, events }),
    shortenedTimers(scenario).length > 0 ? 'short' : 'stock',
    `${events.length}${open}`,
    distributionText(counts),
    shareText(alone),
    shareText(beside),
    differenceText(alone, beside),
    loadText(events),
    tally(events.map(({ line }) => minorOf(line.versions.kubernetes))),
    tally(events.map(({ line }) => line.versions['forcedetach']?.split('+')[1] ?? 'not recorded')),
  ];
}

/** The fields that make it, but for timers. */
function nameOf({ scenario }: Race): string {
  const { fault, remedy, disk, rate } = scenario;
  const main = [`\`${fault}\``, `\`${remedy}\``, `\`${disk}\``, `rate ${rate}`];
  const more = Object.entries(changedSettings({ ...scenario }))
    .filter(([field]) => !said.has(field))
    .map(([field, value]) => `${field} ${textOf(value)}`);
  return [...main, ...more].join(', ');
}

const textOf = (value: RunLine['scenario'][string]): string =>
  typeof value === 'object' ? gatesText(value) : String(value);

/** Said already, or no part of what was done. */
const said = new Set([...timing, ...clientTiming, 'fault', 'remedy', 'disk', 'rate']);

/** `corrupt 20 of 24 (64–93 %), exposed 4 of 24 (7–36 %)`, the worst first. */
export function distributionText(counts: Counts): string {
  const of = eventsIn(counts);
  return wordsWorstFirst(counts)
    .map(({ word, count }) => `${word} ${shareText({ count, of })}`)
    .join(', ');
}

const damagedIn = (events: readonly FaultEvent[]): Count => ({
  count: events.filter(({ verdict }) => gradeOf(verdict) === 'damaged').length,
  of: events.length,
});

function differenceText(alone: Count, beside: Count): string {
  if (alone.of === 0 || beside.of === 0) return '–';
  const { by, low, high } = difference(alone, beside);
  const points = [by, low, high].map(percentText) as [string, string, string];
  return `${points[0]} points (${points[1]} to ${points[2]}), p ${fisher(alone, beside).toFixed(2)}`;
}

function loadText(events: readonly FaultEvent[]): string {
  const means = (figure: 'load' | 'cpu'): number[] =>
    events.flatMap(({ line }) => line.machine.pressure?.[figure]?.mean ?? []);
  const median = (values: readonly number[]): string => medianOf(values)?.toFixed(1) ?? '–';
  const [load, cpu] = [means('load'), means('cpu')];
  if (load.length === 0 && cpu.length === 0) return 'not recorded';
  return `load ${median(load)}, PSI ${median(cpu)} %`;
}

/** `2 × 1.34, 1 × 1.37`; the one word where all are the same. */
function tally(words: readonly string[]): string {
  const groups = [...Map.groupBy(words.toSorted(), (word) => word)];
  if (groups.length === 1) return groups[0]?.[0] ?? '';
  return groups.map(([word, all]) => `${all.length} × ${word}`).join(', ');
}

/** For a cell of the table: its distribution, or that there is none. */
export function raceText(race: Race | undefined): string {
  const events = race?.events ?? [];
  if (events.length === 0) return '**open**; not measured yet';
  const text = distributionText(countsOf(events));
  return events.length < leastEvents ? `**open**; so far ${text}` : text;
}
