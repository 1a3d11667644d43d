/** The verdict as JUnit XML: one case for the run, one for each claim of its certificates. */
import { html, raw } from 'hono/html';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { History } from '../history/reader.ts';
import { scoreInWords } from './mutant-score.ts';
import type { Html } from './html-parts.ts';
import { commitsFact, lostOf } from './loss-words.ts';
import { expectation, expectedInRun } from './wording.ts';
import { property, timeAttribute, xmlDocument } from './xml.ts';

type Shared = 'verdict' | 'expected' | 'asExpected' | 'incompleteBecause' | 'sentence' | 'acked';
type OfRun = 'lost' | 'certificates' | 'scenario' | 'seed' | 'basis' | 'replay';
/** What every kind of run is judged by, and what only one on a volume has. */
type JunitVerdict = Pick<Verdict, Shared | OfRun> &
  Partial<Pick<Verdict, 'open' | 'serving' | 'images'>>;

/** Where the time of each case comes from. */
type Source = Pick<History, 'smallRecords'>;

/**
 * An inconclusive run is an error, an unexpected verdict a failure, an open one is skipped. A claim that
 * was probed several times is one case: it fails if one probe does. The model measures no time.
 * `run`: which of a batch's, whose runs all have its name.
 */
export function renderJunit(verdict: JunitVerdict, source: Source, run = ''): Promise<string> {
  const { scenario, certificates, asExpected, seed, basis, replay } = verdict;
  const open = verdict.open === true;
  const error = verdict.verdict === 'inconclusive' && !asExpected;
  const claims = Map.groupBy(certificates, caseName);
  const broken = [...claims.values()].filter((probes) => probes.some(({ holds }) => !holds)).length;
  const name = String(scenario['name']);
  const suite = run === '' ? name : `${name}.${run}`;
  const records = basis === 'predicted' ? [] : [...source.smallRecords()];
  const time = timeOf(records);
  const probed = Map.groupBy(
    records.filter((record) => record.type === 'certificate'),
    caseName,
  );
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${1 + claims.size}"
 failures="${broken + (asExpected || error || open ? 0 : 1)}" errors="${error ? 1 : 0}"${open ? raw(' skipped="1"') : ''}${time}>
<properties>${property('seed', seed)}${property('basis', basis)}${property('replay', replay)}
${lossProperties(verdict)}</properties>
${verdictCase(verdict, suite, { error, time })}
${[...claims].map(([name, probes]) => claimCase(`${suite}.certificates`, name, probes, timeOf(probed.get(name) ?? [])))}</testsuite>
</testsuites>`);
}

/** From the first to the last of these records; a single one has no duration. */
function timeOf(records: readonly { readonly t: number }[]): Html | '' {
  const times = records.map(({ t }) => t);
  return times.length < 2 ? '' : timeAttribute(Math.max(...times) - Math.min(...times));
}

/** The score is of audits of a volume, so that a group's members have none. */
function lossProperties({ images, acked, lost }: JunitVerdict): Html {
  if (images === undefined) return property('Acknowledged commits', lostOf(lost, acked));
  const { name, value, more } = commitsFact({ images });
  return html`${property('audit', scoreInWords())}
${property(name, `${value} (${more})`)}`;
}

function verdictCase(
  verdict: JunitVerdict,
  suite: string,
  { error, time }: { readonly error: boolean; readonly time: Html | '' },
): Html {
  const came = `${verdict.verdict}${verdict.serving?.served === false ? ', and nothing served' : ''}`;
  const message = `${came}, expected ${expectedInRun(verdict)}`;
  const details = error ? verdict.incompleteBecause.join('\n') : verdict.sentence;
  const trouble = error
    ? html`<error message="${message}">${details}</error>`
    : html`<failure message="${message}">${details}</failure>`;
  return html`<testcase classname="${suite}" name="verdict"${time}>
${verdict.open === true ? html`<skipped message="${expectation(verdict)}"/>` : verdict.asExpected ? '' : trouble}</testcase>`;
}

type Claim = Verdict['certificates'][number];

const caseName = ({ fault, moment, claim }: Pick<Claim, 'fault' | 'moment' | 'claim'>): string =>
  `${fault}, ${moment}: ${claim}`;

function claimCase(suite: string, name: string, probes: readonly Claim[], time: Html | ''): Html {
  const broken = probes.filter(({ holds }) => !holds);
  const message = `${broken.length} of ${probes.length} probes do not hold`;
  const evidence = broken.map((probe) => probe.evidence).join('\n');
  return html`<testcase classname="${suite}" name="${name}"${time}>
${broken.length === 0 ? '' : html`<failure message="${message}">${evidence}</failure>`}</testcase>
`;
}
