import type { BatchCell } from '../batch/index.ts';
import { countInWords, secondsShown, wilson } from '../core/index.ts';
import { recordedScenario } from '../history/index.ts';
import {
  eventsIn,
  firstTold,
  noticeInWords,
  refusedInWords,
  remedyRefused,
  type ServingWord,
  type Verdict,
  type VerdictWord,
  wordsWorstFirst,
} from '../judge/index.ts';
import {
  type Counts,
  isDirectory,
  losesPower,
  originInWords,
  type Scenario,
  shortenedTimers,
  revocationOf,
  transportOf,
} from '../scenario/index.ts';
import { linkWords, networkWords, powerLossWords, storageWords } from './conditions.ts';
import { bytes, percent } from './html-parts.ts';

/** The audited copies of the volume, by when they were taken. */
export const imageName = (
  verdict: Pick<Verdict, 'scenario' | 'custom'>,
  image: Verdict['images'][number]['image'],
): string =>
  ({
    steady: `before the ${zeroOf(verdict)}`,
    first: zeroOf(verdict) === 'fault' ? 'before the heal: what the fault did' : 'before the heal',
    second: 'after the heal',
  })[image];

/** What each word means, for readers of the report and of docs/reference/verdicts.md. */
export const meanings: Readonly<Record<VerdictWord, string>> = {
  safe: 'no acknowledged commit was lost and no two nodes could write the volume',
  exposed: 'two nodes could write the volume; no damage was found',
  lost: 'acknowledged commits are gone',
  corrupt: 'a structure is broken, or the server cannot start',
  inconclusive: 'evidence is missing; this run proves nothing',
};

/** Names of the timers that a scenario may change, and what they are called where they are in force. */
const timerNames = {
  grace: ['node-monitor-grace-period', 'nodeMonitorGraceMs'],
  toleration: ['toleration of the unreachable taint', 'tolerationMs'],
  forceDetachAfter: ['wait before a forced detach', 'forceDetachAfterMs'],
} as const;

/** What time counts from: a run without a fault has a start. */
export const zeroOf = ({ scenario, custom }: Pick<Verdict, 'scenario' | 'custom'>): string =>
  (custom?.fault ?? scenario.fault.kind) === 'none' ? 'start' : 'fault';

export const scenarioOf = ({ scenario }: Pick<Verdict, 'scenario'>): Scenario =>
  recordedScenario(scenario);

/** How far the numbers may be believed, in a few words. */
export function basisLabel(verdict: Pick<Verdict, 'basis' | 'scenario' | 'timers'>): string {
  if (verdict.basis === 'predicted') return 'prediction by the built-in model, not a measurement';
  if (verdict.basis === 'measured') return 'measured, stock timers';
  const scenario = scenarioOf(verdict);
  const named = shortenedTimers(scenario).map((field) => {
    const [name, inForce] = timerNames[field];
    return `${name} ${(verdict.timers[inForce] ?? scenario.timers[field]) / 1000} s`;
  });
  return `measured, changed timers: ${named.join(', ')}`;
}

type Held = Pick<Verdict, 'expected' | 'scenario' | 'verdict'> & Partial<Pick<Verdict, 'serving'>>;

export function expectation(verdict: Held & Pick<Verdict, 'open' | 'asExpected'>): string {
  if (verdict.open === true) return openWords(verdict.scenario.counted);
  // Without a verdict nothing came that could be unexpected.
  const came = verdict.verdict === 'inconclusive' ? 'no verdict; expected' : 'NOT as expected';
  return `${verdict.asExpected ? 'as expected' : came}: ${expectedInRun(verdict)}`;
}

/** What a run was held against; of a race with counts, and how rare what was never seen may be. */
export function expectedInRun({ expected, serving, scenario, verdict }: Held): string {
  const { counted } = scenario;
  const of = counted === undefined ? 0 : eventsIn(counted);
  // What was never counted is held against what reasoning allows.
  if (counted === undefined || of === 0) return expectedWords(expected, serving?.expected);
  if (expected.includes(verdict)) return countedWords(counted);
  const most = percent(Math.round(100 * wilson(0, of).high), 100);
  return `${countedWords(counted)}; ${verdict} never in ${of} (at most ${most})`;
}

/** `corrupt in 20 of 24 or exposed in 4 of 24 fault events measured before`, the worst first. */
export function countedWords(counted: Counts): string {
  const of = eventsIn(counted);
  const each = wordsWorstFirst(counted).map(({ word, count }) => `${word} in ${count} of ${of}`);
  return `${each.join(' or ')} fault events measured before`;
}

export function openWords(counted: Counts | undefined): string {
  const none = 'no baseline';
  if (counted === undefined) return `${none}: any outcome is possible`;
  const of = eventsIn(counted);
  return of === 0
    ? `${none} yet for this timing-dependent case`
    : `${none}, too few: ${countedWords(counted)}`;
}

const servingText = { yes: ', and served', no: ', and nothing served', open: '' } as const;

/** `safe, and served`: both parts, where the second can fail. */
export const expectedWords = (
  words: readonly VerdictWord[],
  serving: ServingWord = 'open',
): string => `${words.join(' or ')}${servingText[serving]}`;

/** What a cell's runs were held against, or that there was nothing. */
export function cellExpectation(cell: BatchCell): string {
  if (cell.open === true) return openWords(cell.counted);
  return cell.counted === undefined
    ? expectedWords(cell.expected, cell.expectedServing)
    : countedWords(cell.counted);
}

/** For how long two could write, and what; exact to the block where the disk kept a log of writes. */
export function exposureInWords(verdict: Verdict): { value: string; more: string } {
  const { exposure, horizonS } = verdict;
  if (horizonS === 0) return { value: 'not known', more: `the ${zeroOf(verdict)} never came` };
  return { value: secondsShown(exposure.ms / 1000), more: writtenInIt(verdict) };
}

function writtenInIt(verdict: Verdict): string {
  const { ms, bytesVictim, bytesSuccessor, blocksBoth } = verdict.exposure;
  if (ms === 0) return 'never';
  if (isDirectory(scenarioOf(verdict).disk.mode))
    return 'bytes of a shared directory are not counted';
  const each = `${bytes(bytesVictim)} by the victim, ${bytes(bytesSuccessor)} by the successor`;
  if (blocksBoth === undefined) return each;
  return `${each}, ${countInWords(blocksBoth)} block${blocksBoth === 1 ? '' : 's'} written by both`;
}

/** Whether another node mounted the volume, and which had it without a mount. */
export function secondMountInWords(verdict: Verdict): { value: string; more: string } {
  const { phases, horizonS, refusedMounts, findings } = verdict;
  const [refused] = refusedMounts.filter(({ firstS }) => firstS < horizonS);
  const why = findings.filter(({ code }) => code === remedyRefused).map(({ summary }) => summary);
  const had = [...(refused === undefined ? [] : [refusedInWords(refused)]), ...why]
    .map((clause) => `; ${clause}`)
    .join('');
  if (phases.secondMount !== null) {
    return { value: secondsShown(phases.secondMount), more: `after the ${zeroOf(verdict)}${had}` };
  }
  if (horizonS === 0) return { value: 'not known', more: `the ${zeroOf(verdict)} never came` };
  const value = refused === undefined ? 'none' : 'refused';
  return { value, more: `none in ${secondsShown(horizonS)} after the ${zeroOf(verdict)}${had}` };
}

/** Undefined where there was nothing to notice, or a source that would show it was not recorded. */
export function noticedInWords({
  noticed,
  notices,
}: Verdict): { readonly short: string; readonly whole: string } | undefined {
  if (noticed === null) return undefined;
  const short =
    noticed === 'silent'
      ? 'silent: no event, probe, log or check shows it'
      : 'visible to an operator';
  const first = noticed === 'silent' ? undefined : firstTold(notices);
  return { short, whole: first === undefined ? short : `${short}: ${noticeInWords(first)}` };
}

/** How often it happens, which no single run shows. */
export const onceInWords = ({
  safety,
  verdict,
  basis,
}: Pick<Verdict, 'safety' | 'verdict' | 'basis'>): string => {
  const once =
    basis === 'predicted' ? 'n = 1, one predicted fault event' : 'n = 1, one fault event';
  if (verdict === 'inconclusive') return `${once}.`;
  return safety === 'safe'
    ? `${once}: it shows that this can end well, not that it always does.`
    : `${once}: it shows that this can happen, not how often.`;
};

/** Undefined where all is ours. */
export function customInWords({
  custom,
  scenario,
}: Pick<Verdict, 'custom' | 'scenario'>): string | undefined {
  if (custom === undefined) return undefined;
  const { fault, remedy, database: ownDatabase, checkers = [] } = custom;
  return [
    ...(fault === undefined ? [] : [`fault ${fault}, judged as ${scenario.fault.kind}`]),
    ...(remedy === undefined ? [] : [`remedy ${remedy}, judged as ${scenario.remedy.kind}`]),
    ...(ownDatabase === undefined ? [] : [`database ${ownDatabase}, played as MySQL`]),
    ...checkers.map((name) => `checker ${name}`),
  ].join('; ');
}

export function notTested(verdict: Verdict): string[] {
  const { volume, fault, disk, diskFrom } = scenarioOf(verdict);
  const custom = customInWords(verdict);
  const always = [
    ...(diskFrom === undefined
      ? []
      : [
          `The driver ${diskFrom.driver} itself: the disk was the harness’s own, of the kind that the certificate shows.`,
        ]),
    ...(custom === undefined
      ? []
      : [`The caller’s own parts, which forcedetach does not vouch for: ${custom}.`]),
    `Other databases, file systems (${volume.filesystem} here) and disks than the one named above.`,
  ];
  if (verdict.basis === 'predicted') {
    return [
      'Anything real: the model knows the order and the timers of the controllers, not disks, kernels or databases.',
      ...always,
    ];
  }
  return [
    ...always,
    fault.powerLoss === 'keeps'
      ? 'Power loss of the storage itself: a crash here loses the node’s cache, and the disk keeps what it got.'
      : 'A real drive’s cache: what is lost, reordered or torn here was drawn by the seed.',
    ...(disk.transport === 'array'
      ? []
      : ['A kernel’s initiator: this one is qemu-storage-daemon, which retries by its own rules.']),
    'Clocks that disagree: all nodes share this machine’s kernel and clock.',
  ];
}

/** What the fault does to the storage or to the way there; nothing where it reaches neither. */
function fateOf({ fault, disk }: Scenario): string[] {
  if (losesPower(fault.kind)) return [powerLossWords[fault.powerLoss]];
  if (fault.kind !== 'network-partition') return [];
  return [linkWords[fault.link], ...(disk.transport === 'array' ? [] : [networkWords[fault.link]])];
}

/** The driver was not part of the run: only its kind was. */
const originOf = ({ disk, diskFrom }: Scenario): string =>
  diskFrom === undefined
    ? ''
    : ` The kind comes from a certificate (${originInWords(diskFrom, disk.mode)}); the disk is the harness’s own.`;

/** In the order of most clusters: made, attached, staged, published. */
function madeBy({ provisioning }: Verdict): string {
  if (provisioning === undefined) return '';
  const { storageClass, calls } = provisioning;
  const done = calls.filter(({ error }) => error === undefined);
  const order = done.map(({ call, t }) => `${call} ${secondsShown(t / 1000)}`).join(', ');
  const failed = calls.length - done.length;
  const failures = failed === 0 ? '' : `; ${failed} calls failed before`;
  return ` The official external-provisioner made it for a claim of the class ${storageClass}. Times in the run: ${order}${failures}.`;
}

/** One sentence for the first screen, and one more where a certificate named the kind. */
export function diskInWords(verdict: Verdict): string {
  const scenario = scenarioOf(verdict);
  const { disk, volume } = scenario;
  const on = isDirectory(disk.mode) ? '' : `${volume.filesystem}, `;
  const { transport } = disk;
  const taken = `it takes the disk from a node so: it ${revocationOf(disk).does}`;
  const way = [
    ...(transport === 'array' ? [] : [`nodes reach it ${transportOf[transport].does}`]),
    ...(disk.revocation === 'cut' ? [] : [taken]),
  ];
  const fate = [...way, ...fateOf(scenario)].map((clause) => `; ${clause}`).join('');
  return `Disk ${disk.mode} (${on}${volume.accessMode}): ${storageWords(disk.mode, scenario)}${fate}.${originOf(scenario)}${madeBy(verdict)}`;
}
