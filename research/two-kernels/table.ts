/**
 * The comparison as Markdown, made from the raw results alone: what became of the volume in each
 * case on each host, and whether the hosts agree.
 */
import { safetyLevels } from '../../lib/scenario/index.ts';
import { cases, caseNames, type Case, type CaseName } from './cases.ts';
import { comparedFilesystems, hostKinds, type ComparedFilesystem, type HostKind } from './host.ts';
import type { ImageResult, Result } from './result.ts';

/** Results of one case on one file system, by host. */
interface CaseResults {
  readonly name: CaseName;
  readonly filesystem: ComparedFilesystem;
  readonly by: Readonly<Record<HostKind, readonly Result[]>>;
}

const imageLabels = ['first', 'second'] as const;
type ComparedImage = (typeof imageLabels)[number];
const hostNames = { loops: 'loops', 'slow-loops': 'slow loops', vms: 'VMs' } as const;

/** Both tables, a blank line between them. */
export function comparison(results: readonly Result[]): string {
  const groups = grouped(results);
  return [...outcomeTable(groups), '', ...numberTable(groups)].join('\n');
}

const grouped = (results: readonly Result[]): CaseResults[] =>
  caseNames.flatMap((name) =>
    comparedFilesystems.flatMap((filesystem): CaseResults[] => {
      const mine = results.filter(
        ({ scenario }) =>
          // Under an earlier rule of when a side has settled it was another case.
          scenario.case === name && scenario.filesystem === filesystem && !scenario.quietMs,
      );
      const of = (host: HostKind): Result[] => mine.filter((each) => each.scenario.host === host);
      const by = { loops: of('loops'), 'slow-loops': of('slow-loops'), vms: of('vms') };
      return mine.length === 0 ? [] : [{ name, filesystem, by }];
    }),
  );

function outcomeTable(groups: readonly CaseResults[]): string[] {
  const rows = groups.map(({ name, filesystem, by }) => {
    const cells = imageLabels.flatMap((label) =>
      hostKinds.map((host) => outcomesInWords(imagesOf(by[host], label))),
    );
    const { what, compare } = cases[name];
    const others = [by.loops, by['slow-loops']];
    const agreements = others.map((runs) => agreement(compare, runs, by.vms));
    return row([`\`${name}\``, what, filesystem, ...cells, compare, ...agreements]);
  });
  const images = ['First image: ', 'Second image: '].flatMap((label) =>
    hostKinds.map((host) => `${label}${hostNames[host]}`),
  );
  const agree = ['Compared', 'VMs as loops', 'VMs as slow loops'];
  return [...header(['Case', 'What happens', 'File system', ...images, ...agree]), ...rows];
}

function numberTable(groups: readonly CaseResults[]): string[] {
  const rows = groups.flatMap(({ name, filesystem, by }) =>
    hostKinds.flatMap((host) => {
      const runs = by[host];
      if (runs.length === 0) return [];
      const served = runs.filter(({ outcome }) => outcome.takeover.ready).length;
      const acked = `${range(runs, ({ outcome }) => outcome.acked.victim)} / ${range(runs, ({ outcome }) => outcome.acked.successor)}`;
      const images = imageLabels.map((label) => losses(imagesOf(runs, label)));
      const fsck = imageLabels.map((label) => exitCodes(imagesOf(runs, label)));
      const start = range(runs, ({ outcome }) => outcome.takeover.startMs ?? 0, 1000);
      return [
        row([
          ...[
            `\`${name}\``,
            filesystem,
            hostNames[host],
            `${served} of ${runs.length}`,
            start,
            acked,
          ],
          ...[...images, fsck.join(' / '), writtenBeside(runs), range(runs, waited)],
        ]),
      ];
    }),
  );
  const head = ['Case', 'File system', 'Host', 'Successor served', 'Its start, s'];
  const machine = ['Victim wrote beside: before / after the first image, MiB', 'CPU stall, %'];
  const lost = ['Acked: victim / successor', 'Lost, first image', 'Lost, second image'];
  return [...header([...head, ...lost, 'fsck: first / second', ...machine]), ...rows];
}

/** What the victim wrote once its successor had come. */
function writtenBeside(runs: readonly Result[]): string {
  const between = (from: string, to: string): string => {
    const known = runs.filter(({ outcome }) => outcome.marks.some(({ step }) => step === from));
    const bytesAt = ({ outcome }: Result, step: string): number =>
      outcome.marks.find((mark) => mark.step === step)?.bytesWritten.victim ?? 0;
    if (known.length === 0) return '–';
    return range(known, (run) => bytesAt(run, to) - bytesAt(run, from), 2 ** 20);
  };
  const taken = runs.some(({ outcome }) => outcome.images.some(({ image }) => image === 'first'));
  const second = runs.some(({ outcome }) => outcome.images.some(({ image }) => image === 'second'));
  if (!taken) return between('successor takes over', 'second image');
  const before = between('successor takes over', 'first image');
  return second ? `${before} / ${between('first image', 'second image')}` : `${before} / –`;
}

/** Percent of the run in which some task of the machine waited for a processor. */
const waited = ({ outcome }: Result): number => Math.round((outcome.cpuPressure ?? 0) * 100);

const imagesOf = (runs: readonly Result[], label: ComparedImage): ImageResult[] =>
  runs.flatMap(({ outcome }) => outcome.images.filter(({ image }) => image === label));

/** `corrupt 2, lost 1 (1 silent)`: worst first. */
export function outcomesInWords(images: readonly ImageResult[]): string {
  if (images.length === 0) return '–';
  const counted = safetyLevels.toReversed().flatMap((level) => {
    const count = images.filter(({ safety }) => safety === level).length;
    return count === 0 ? [] : [`${level} ${count}`];
  });
  const damaged = images.filter(({ safety }) => safety !== 'safe');
  const silent = damaged.filter(({ loud }) => !loud).length;
  const incomplete = images.filter(isInconclusive).length;
  const remarks = [
    ...(silent > 0 ? [`${silent} silent`] : []),
    ...(incomplete > 0 ? [`${incomplete} inconclusive`] : []),
  ];
  return remarks.length === 0
    ? counted.join(', ')
    : `${counted.join(', ')} (${remarks.join(', ')})`;
}

/**
 * `yes`: the same outcomes were seen, `partly`: some of them, `no`: none in common. What was not read
 * to its end without damage is no outcome; where a host has nothing else, nobody can say.
 */
export function agreement(
  compare: Case['compare'],
  some: readonly Result[],
  others: readonly Result[],
): string {
  if (some.length === 0 || others.length === 0) return '–';
  const verdicts = imageLabels.map((label) => {
    const images = [imagesOf(some, label), imagesOf(others, label)] as const;
    if (images.flat().length === 0) return 'yes';
    const [mine, theirs] = [seen(compare, images[0]), seen(compare, images[1])];
    if (mine.size === 0 || theirs.size === 0) return 'open';
    const common = [...mine].filter((outcome) => theirs.has(outcome)).length;
    if (common === mine.size && common === theirs.size) return 'yes';
    return common === 0 ? 'no' : 'partly';
  });
  if (verdicts.includes('no')) return '**no**';
  if (verdicts.includes('open')) return '–';
  return verdicts.includes('partly') ? 'partly' : 'yes';
}

function seen(compare: Case['compare'], images: readonly ImageResult[]): Set<string> {
  const told = images.filter((image) => !isInconclusive(image)).map(({ safety }) => safety);
  return new Set(
    compare === 'outcome' ? told : told.map((safety) => (safety === 'safe' ? 'safe' : 'damaged')),
  );
}

const isInconclusive = ({ safety, complete }: ImageResult): boolean =>
  safety === 'safe' && !complete;

/** Lost commits of each side of those it had to hold; all of them where it could not be read. */
function losses(images: readonly ImageResult[]): string {
  if (images.length === 0) return '–';
  const side = (which: 'victim' | 'successor'): string =>
    images.map((image) => lostOf(image[which])).join(', ');
  return `${side('victim')} / ${side('successor')}`;
}

function lostOf({ acked, lost }: { readonly acked: number; readonly lost: number }): string {
  if (lost === 0) return '0';
  return lost === acked ? `all ${acked}` : `${lost}`;
}

function exitCodes(images: readonly ImageResult[]): string {
  const codes = images.map(({ fsckExitCode }) => fsckExitCode ?? '–');
  return codes.length === 0 ? '–' : [...new Set(codes)].join(', ');
}

/** `12` or `12–15`; divided by `unit`, with one digit then. */
function range(runs: readonly Result[], value: (run: Result) => number, unit = 1): string {
  const values = runs.map((run) => value(run) / unit);
  const shown = (one: number): string => (unit === 1 ? String(one) : one.toFixed(1));
  const [least, most] = [shown(Math.min(...values)), shown(Math.max(...values))];
  return least === most ? least : `${least}–${most}`;
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const header = (names: readonly string[]): string[] => [row(names), row(names.map(() => '---'))];
