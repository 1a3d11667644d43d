/** What a case came to, read from its history by the readers and checkers of any run. */
import {
  judgeImages,
  type Judgement,
  copyContradictions,
  journalGaps,
  worst,
} from '../../lib/judge/index.ts';
import { meanOf, sumOf, EvidenceError } from '../../lib/core/index.ts';
import {
  type CaseRecord,
  type ImageRecord,
  type NoteRecord,
  tellsOf,
  observed,
  type History,
  type SmallRecord,
} from '../../lib/history/index.ts';
import { dateOf } from '../../lib/batch/index.ts';
import { clientOf, type NodeName } from './host.ts';
import { labObserved } from './observations.ts';
import { resultSchema, type ImageResult, type Result } from './result.ts';
import { mysql } from '../../lib/mysql/index.ts';

/** Errors kept of each log, and the length of each. */
const maxErrors = 8;
const maxErrorLength = 240;
const handOvers = ['victim loses power', 'successor takes over'];

/** `source`: of a run that nobody keeps, how to run it again. Throws EvidenceError `CASE_INCOMPLETE` where a piece of evidence is missing. */
export function readResult(history: History, source?: string): Result {
  const records = [...history.smallRecords()];
  const about = records.find((record) => record.type === 'case');
  if (about === undefined) throw incomplete(['no record says which case it is']);
  const reasons = missingIn(history, records, about);
  if (reasons.length > 0) throw incomplete(reasons);
  const { seed, filesystem, repeat, host, cpus, scenario } = about;
  const story = storyOf(records);
  const { faultAtMs, handoverAtMs } = story;
  const moments = { faultAtMs, handoverAtMs, victimNode: 'victim' };
  const judgement = judgeImages(history, moments, { database: mysql });
  const acks = acksOf(history);
  const { load, database } = scenario;
  // Whatever stands in an observation is held against the form that is committed.
  const date = dateOf(records);
  const what = `--cases ${about.case} --hosts ${host} --filesystems ${filesystem}`;
  const found = resultSchema.safeParse({
    ...{ kind: 'two-kernels', id: `${about.case} ${host} ${filesystem} ${date}` },
    scenario: {
      ...{ case: about.case, host, filesystem, repeat },
      ...{ cpus, connections: load.connections, rate: load.rate, trxCommit: database.trxCommit },
    },
    seed,
    outcome: {
      durationMs: Math.round(records.at(-1)?.t ?? 0),
      takeover: story.takeover,
      acked: { victim: acks.victim.length, successor: acks.successor.length },
      victimAckedBeside: acks.victim.filter((t) => t > (handoverAtMs ?? Infinity)).length,
      ...{ logs: story.logs, marks: story.marks, unflushedBytes: story.unflushedBytes },
      images: records.flatMap((record) =>
        record.type === 'image' ? imageOf(record, judgement) : [],
      ),
      cpuPressure: story.cpuPressure,
    },
    ...{ basis: 'measured', versions: story.versions, date },
    source: source ?? `npx zx research/two-kernels.mjs ${what}`,
  });
  if (found.success) return found.data;
  throw incomplete(found.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}

const incomplete = (reasons: readonly string[]): EvidenceError =>
  new EvidenceError('CASE_INCOMPLETE', `evidence is missing: ${reasons.join('; ')}`);

/** A sentence each. */
function missingIn(history: History, records: readonly SmallRecord[], about: CaseRecord): string[] {
  const tells = tellsOf(about);
  const observations = records.filter((record) => record.type === 'observation');
  const setup = records.find((record) => record.type === 'setup');
  const plot = {
    records,
    observations,
    setup,
    tells,
    scenario: { volume: { provision: 'static' } } as const,
  };
  return [
    ...records.flatMap((each) => (each.type === 'error' ? `${each.where}: ${each.message}` : [])),
    ...history.cuts.map((cut) => `the history is cut: ${JSON.stringify(cut)}`),
    ...[...journalGaps(plot, history), ...copyContradictions(plot)].map(({ words }) => words),
  ];
}

/** What was seen of the schedule; the moments in ms on the run's clock. */
function storyOf(records: readonly SmallRecord[]) {
  const seen = records.filter((record) => record.type === 'observation' || record.type === 'note');
  const data = (name: string, node: NodeName): Readonly<Record<string, unknown>> | undefined =>
    seen.findLast((each) => each.name === name && each.node === node)?.data;
  const lines = (node: NodeName): string[] | null => {
    const said = data(labObserved.errorLog, node)?.['lines'];
    return Array.isArray(said) ? shortened([...new Set(said.map(String))]) : null;
  };
  const setup = records.find((record) => record.type === 'setup');
  const steps = records.filter(
    (record) => record.type === 'note' && record.name === labObserved.step,
  ) as readonly NoteRecord[];
  const pressures = records.flatMap((record) =>
    record.type === 'machine' ? (record.cpuPressure ?? []) : [],
  );
  return {
    // The victim's power fails, or the successor asks for the volume.
    faultAtMs: steps.find(({ data }) => handOvers.includes(String(data['step'])))?.t,
    handoverAtMs: seen.find((each) => each.name === observed.mounted && each.node === 'successor')
      ?.t,
    versions: setup?.versions,
    takeover: data(labObserved.served, 'successor'),
    logs: { victim: lines('victim'), successor: lines('successor') },
    marks: steps.map((each) => ({ ...each.data, atMs: Math.round(each.t) })),
    unflushedBytes: data(labObserved.powerLost, 'victim')?.['unflushedBytes'] ?? null,
    cpuPressure: pressures.length === 0 ? null : Math.round(meanOf(pressures)) / 100,
  };
}

/** Times of the acknowledgements, ms on the run's clock; the client says which side it is. */
function acksOf(history: History): Readonly<Record<NodeName, number[]>> {
  const times = { victim: [] as number[], successor: [] as number[] };
  history.visitOps(({ client, outcome, endedAtMs = 0 }) => {
    if (outcome === 'ok')
      times[client === clientOf.victim ? 'victim' : 'successor'].push(endedAtMs);
  });
  return times;
}

/** What MySQL's own audit adds. */
type Checked = ImageRecord['evidence'] & {
  readonly tables?: readonly { readonly table: string; readonly check?: string }[];
};

function imageOf({ image, evidence }: ImageRecord, judgement: Judgement): ImageResult {
  if (image === 'steady') throw new TypeError('a case has no steady image');
  const about = judgement.findings.filter(({ summary }) => summary.startsWith(`${image} image`));
  const found = judgement.reconciliations.get(image);
  if (found === undefined) throw new TypeError(`the ${image} image was not judged`);
  const { successor, ...epochs } = found.byEpoch;
  const victim = Object.values(epochs);
  const errors = [...new Set(evidence.starts.flatMap(({ errorLines }) => errorLines))];
  const { tables = [] }: Checked = evidence;
  const unchecked = tables.filter(({ check }) => check !== 'OK');
  return {
    image,
    safety: worst(about.map(({ safety }) => safety)),
    complete: about.every(({ level }) => level !== 'incomplete'),
    findings: [...new Set(about.map(({ code }) => code))].toSorted(),
    loud: about.some(({ loud, level }) => loud && level === 'damage'),
    rows: evidence.ledgerRows,
    readable: evidence.ledgerComplete,
    victim: {
      acked: sumOf(victim.map(({ acked }) => acked)),
      lost: sumOf(victim.map(({ lost }) => lost)),
    },
    successor: { acked: successor.acked, lost: successor.lost },
    fsckReplayExitCode: evidence.fsckReplay?.exitCode ?? null,
    fsckExitCode: evidence.fsck?.exitCode ?? null,
    checkTable: unchecked
      .map(({ table, check }) => `${table}: ${check ?? 'no answer'}`)
      .slice(0, maxErrors),
    starts: evidence.starts.map(({ purpose, ready, died }) => ({
      purpose,
      ready,
      died: died ?? null,
    })),
    errorLines: errors.length,
    errors: shortened(errors),
    failures: shortened(evidence.failures),
    auditMs: evidence.durationsMs?.['audit'] ?? 0,
  };
}

const shortened = (lines: readonly string[]): string[] =>
  lines.slice(0, maxErrors).map((line) => line.slice(0, maxErrorLength));
