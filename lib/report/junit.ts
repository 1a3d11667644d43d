/** JUnit XML: of any suite of cases; and of a run, with one case for its verdict and one for each claim. */
import { html, raw } from 'hono/html';
import type { Verdict } from '../judge/index.ts';
import type { History } from '../history/index.ts';
import type { Html } from './html-parts.ts';
import { commitsFact, lostOf } from './loss-words.ts';
import { scoreInWords } from './mutant-score.ts';
import { expectation, expectedInRun } from './wording.ts';

interface Trouble {
  readonly message: string;
  readonly text: string;
}

export interface JunitCase {
  readonly name: string;
  /** Part of the suite, in the class name. Default: the suite itself. */
  readonly part?: string;
  /** Undefined where no time was measured. */
  readonly ms?: number | undefined;
  readonly failure?: Trouble | undefined;
  readonly error?: Trouble | undefined;
  readonly skipped?: string | undefined;
  readonly out?: string | undefined;
}

export interface JunitSuite {
  readonly name: string;
  readonly ms?: number | undefined;
  /** A line each. */
  readonly properties: readonly Readonly<Record<string, string>>[];
  readonly cases: readonly JunitCase[];
}

/** XML 1.0 cannot write most control characters, not even escaped. */
// oxlint-disable-next-line no-control-regex
const unwritable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

export async function junit({ name, ms, properties, cases }: JunitSuite): Promise<string> {
  const count = (kind: 'failure' | 'error' | 'skipped'): number =>
    cases.filter((each) => each[kind] !== undefined).length;
  const skipped = count('skipped');
  const document = await html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<testsuites>
<testsuite name="${name}" tests="${cases.length}"
 failures="${count('failure')}" errors="${count('error')}"${skipped === 0 ? '' : html` skipped="${skipped}"`}${timeOf(ms)}>
<properties>${properties.map((line, index) => html`${index === 0 ? '' : '\n'}${Object.entries(line).map(propertyOf)}`)}</properties>
${cases.map((each) => caseOf(each, name))}</testsuite>
</testsuites>
`;
  return String(document).replaceAll(unwritable, '\uFFFD');
}

const propertyOf = ([name, value]: readonly [string, string]): Html =>
  html`<property name="${name}" value="${value}"/>`;

const timeOf = (ms: number | undefined): Html | string =>
  ms === undefined ? '' : html` time="${(ms / 1000).toFixed(3)}"`;

function caseOf(each: JunitCase, suite: string): Html {
  const { name, part, ms, failure, error, skipped, out } = each;
  const body = [
    failure && html`<failure message="${failure.message}">${failure.text}</failure>`,
    error && html`<error message="${error.message}">${error.text}</error>`,
    skipped === undefined ? undefined : html`<skipped message="${skipped}"/>`,
    out === undefined ? undefined : html`<system-out>${out}</system-out>`,
  ];
  return html`<testcase classname="${part === undefined ? suite : `${suite}.${part}`}" name="${name}"${timeOf(ms)}>
${body.map((part) => part ?? '')}</testcase>
`;
}

type Shared = 'verdict' | 'expected' | 'asExpected' | 'incompleteBecause' | 'sentence' | 'acked';
type OfRun = 'lost' | 'certificates' | 'scenario' | 'seed' | 'basis' | 'replay';
/** What every kind of run is judged by, and what only one on a volume has. */
type JunitVerdict = Pick<Verdict, Shared | OfRun> &
  Partial<Pick<Verdict, 'open' | 'serving' | 'images' | 'custom'>>;

/**
 * An inconclusive run is an error, an unexpected verdict a failure, an open one is skipped. A claim that was probed
 * several times is one case: it fails if one probe does. The model measures no time. `run`: which of a batch's, whose
 * runs all have its name.
 */
export function renderJunit(
  verdict: JunitVerdict,
  source: Pick<History, 'smallRecords'>,
  run = '',
): Promise<string> {
  const { scenario, certificates, seed, basis, replay, acked, lost } = verdict;
  const name = scenario.name;
  const records = basis === 'predicted' ? [] : [...source.smallRecords()];
  const ms = spanOf(records);
  const probed = Map.groupBy(
    records.filter((record) => record.type === 'certificate'),
    claimName,
  );
  const claims = [...Map.groupBy(certificates, claimName)];
  return junit({
    ...{ name: run === '' ? name : `${name}.${run}`, ms },
    properties: [{ seed, basis, replay }, ...lossProperties(verdict, lostOf(lost, acked))],
    cases: [
      { name: 'verdict', ms, ...verdictTrouble(verdict) },
      ...claims.map(([claim, probes]): JunitCase => {
        const broken = probes.filter(({ holds }) => !holds);
        const message = `${broken.length} of ${probes.length} probes do not hold`;
        const text = broken.map(({ evidence }) => evidence).join('\n');
        return {
          ...{ name: claim, part: 'certificates', ms: spanOf(probed.get(claim) ?? []) },
          failure: broken.length === 0 ? undefined : { message, text },
        };
      }),
    ],
  });
}

const claimName = (claim: Pick<Verdict['certificates'][number], 'fault' | 'moment' | 'claim'>) =>
  `${claim.fault}, ${claim.moment}: ${claim.claim}`;

/** From the first to the last of these records; a single one has no duration. */
function spanOf(records: readonly { readonly t: number }[]): number | undefined {
  const times = records.map(({ t }) => t);
  return times.length < 2 ? undefined : Math.max(...times) - Math.min(...times);
}

/** The score is of audits of a volume, so that a group's members have none. */
function lossProperties(
  { images, custom }: JunitVerdict,
  ofGroup: string,
): JunitSuite['properties'] {
  if (images === undefined) return [{ 'Acknowledged commits': ofGroup }];
  const { name, value, more } = commitsFact({ images });
  return [{ audit: scoreInWords({ custom }) }, { [name]: `${value} (${more})` }];
}

function verdictTrouble(verdict: JunitVerdict): Partial<JunitCase> {
  const isOpen = verdict.open === true && verdict.verdict !== 'inconclusive';
  if (isOpen) return { skipped: expectation(verdict) };
  if (verdict.asExpected) return {};
  const word = `${verdict.verdict}${verdict.serving?.served === false ? ', and nothing served' : ''}`;
  const message = `${word}, expected ${expectedInRun(verdict)}`;
  return verdict.verdict === 'inconclusive'
    ? { error: { message, text: verdict.incompleteBecause.join('\n') } }
    : { failure: { message, text: verdict.sentence } };
}
