/** The verdict of a run, read from its history alone. */
import { EvidenceError, describeError } from '../../core/index.ts';
import {
  type CertificateRecord,
  type CustomNames,
  type History,
  type WriteLog,
  gapsInWrites,
  replayOf,
  isWritesFile,
} from '../../history/index.ts';
import type { Checker } from '../checkers/checker.ts';
import { type Judgement, allCheckers, judgeImages } from '../checkers/index.ts';
import { epochs } from '../checkers/journal.ts';
import type { LostCommit } from '../checkers/ledger.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import { type JudgedDatabase, stockDatabaseName } from '../database.ts';
import { incompleteBecause, nothingTested } from '../evidence/completeness.ts';
import { type Answers, answersIn, recordGaps } from '../evidence/journals.ts';
import { crashCertificates, linkCertificates } from '../evidence/certificates.ts';
import { judgeExpectation } from '../expectation/serving-expectation.ts';
import { type Exposure, exposureOf, refusedMountsOf } from '../timeline/access.ts';
import { flushedAcks } from '../facts/served.ts';
import { evidenceOf } from '../facts/evidence.ts';
import { disagreementsIn, foreignImages, reasonOf } from '../facts/table.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import { licencesOf } from '../timeline/licence.ts';
import { type Story, phasesOf, tellStory } from '../timeline/story.ts';
import { controlFindings, diskFindings, readFindings, wayBackFindings } from './findings.ts';
import { type Finding, type Loss, type Verdict, wordsOf } from './verdict.ts';
import { noticedBy, noticesOf, sentenceOf } from './words.ts';

/** Why the run's judgement is not whole: checkers that are not at hand. */
export const absentCheckers = (
  names: CustomNames | undefined,
  given: readonly Checker[],
): Reason[] =>
  (names?.checkers ?? [])
    .filter((checker) => !given.some((each) => each.name === checker))
    .map((checker) => {
      const words = `the run’s own checker ${checker} is not here: only its author’s script can judge anew`;
      return because('CHECKER_ABSENT', words, { checker });
    });

// What a run lost, by who had acknowledged it and when.

/**
 * The worst of all images, epoch by epoch: what the fault took, and what the heal took after it. Null
 * where none of them knows; one from before the fault can tell of a loss, never that there is none.
 */
export function lossOf(reconciliations: ReadonlyMap<string, Reconciliation>): Loss | null {
  const copies = [...reconciliations]
    .filter(([image, { unread, lost }]) => unread !== 'gap' && (image !== 'steady' || lost > 0))
    .map(([, { byEpoch }]) => byEpoch);
  if (copies.length === 0) return null;
  const most = (epoch: keyof Loss, of: 'acked' | 'lost'): number =>
    Math.max(0, ...copies.map((each) => each[epoch][of]));
  return Object.fromEntries(
    epochs.map((epoch) => [epoch, { acked: most(epoch, 'acked'), lost: most(epoch, 'lost') }]),
  ) as Loss;
}

export const lostIn = (loss: Loss | null): number | null =>
  loss === null ? null : Object.values(loss).reduce((sum, { lost }) => sum + lost, 0);

type VerdictImage = Verdict['images'][number];

/**
 * Three numbers that are easily taken for each other: commits that could not be read for a while,
 * that are gone for good, and that are not there in the end.
 */
export function missingOf(images: readonly VerdictImage[]): Verdict['missing'] {
  const first = images.find(({ image }) => image === 'first');
  return {
    unreadableBeforeHeal: countOf(first?.readable === true ? { ...first, lost: 0 } : first),
    // The last copy that could be read in full shows it: what another could not show may be in it.
    lost: countOf(images.findLast(({ image, readable }) => readable && image !== 'steady')),
    afterHeal: countOf(images.find(({ image }) => image === 'second')),
  };
}

const countOf = (image: VerdictImage | undefined): Verdict['missing']['lost'] =>
  image === undefined || image.lost === null ? null : { count: image.lost, of: image.acked };

// The verdict of a run, read from its history alone.

export interface AssembleOptions {
  readonly database: JudgedDatabase;
  /** Told of each commit that is gone from an image. */
  readonly onLost?: (commit: LostCommit) => void;
  /** A caller's own, after ours; a run that had others is not complete without them. Default: none. */
  readonly checkers?: readonly Checker[];
}

/** Throws EvidenceError `DATABASE_NOT_HERE` for a run with another database. */
export function assembleVerdict(
  history: History,
  { database, onLost, checkers: own = [] }: AssembleOptions,
): Verdict {
  const story = storyOf(history, database);
  const { run, faultAtMs, victimNode } = story;
  const answers = answersIn(story, history);
  const { service, reads, served } = answers;
  const { refuted } = answers.journals;
  const { writes, trouble, damage: unreadable = [] } = writesOf(history);
  const attended = { story, journals: answers.journals, hasLog: hasLogOf(history) };
  const { reasons: gaps, withGaps } = recordGaps(attended, history, answers.blindReads);
  const disagreements = disagreementsIn(evidenceOf(story, writes, served));
  const without = foreignImages(disagreements);
  const exposure = exposureOf(story, {
    ...{ writes, lastVictimAckMs: service.lastVictimAckMs },
    acked: flushedAcks(story, served),
  });
  const { findings: damage, reconciliations } = judgeImages(
    // The story has read them already.
    { ...history, smallRecords: () => story.records },
    { faultAtMs, handoverAtMs: exposure.handoverAtMs, victimNode },
    {
      ...{ database, seen: reads.seen(refuted), without, withGaps, refuted, onLost },
      all: [...allCheckers(database), ...own],
    },
  );
  const notices = noticesOf(story, damage);
  const refused = refusedMountsOf(story, exposure.accesses);
  const isTold = notices.some(({ ofHarm }) => ofHarm);
  const disk = diskFindings(story, exposure, { refused, isTold });
  const findings = [...damage, ...disk, ...storyFindings(story, answers)];
  const certificates = certificatesOf(story, exposure);
  const reasons = [
    ...incompleteBecause(attended, certificates, findings),
    ...disagreements.map(reasonOf),
    ...nothingTested(story, reconciliations),
    ...absentCheckers(run.custom, own),
    ...unreadable,
    // Where nobody could write together, counters say enough.
    ...(exposure.summary.ms > 0 ? trouble : []),
    ...gaps,
  ];
  const words = wordsOf(run, findings, reasons);
  const { verdict } = words;
  const loss = lossOf(reconciliations);
  const recovered = recoveredIn(story);
  const told = {
    schemaVersion: 1 as const,
    ...words,
    ...judgeExpectation(story.scenario, {
      verdict,
      served: recovered || service.successorServesOn,
    }),
    noticed: noticedBy(story, findings, notices),
    notices,
    refusedMounts: refused,
    availability: { downtimeMs: service.downtimeMs, recovered },
    exposure: exposure.summary,
    loss,
    acked: service.acked,
    lost: lostIn(loss),
    ...copiesIn(reconciliations),
    phases: phasesOf(story, service.firstSuccessorAckMs),
    horizonS: faultAtMs === undefined ? 0 : Math.round(story.healAtMs - faultAtMs) / 1000,
    ...licencesIn(story, exposure),
    findings,
    certificates: certificates.map(bareCertificate),
    ...whichRun(story, history),
  };
  return { sentence: sentenceOf(told, database), ...told };
}

/** A history has its database's own words, and not their meaning. Throws EvidenceError `DATABASE_NOT_HERE`. */
function storyOf(history: History, database: JudgedDatabase): Story {
  const story = tellStory([...history.smallRecords()], database);
  const { name = stockDatabaseName } = story.run.custom?.database ?? {};
  if (name === database.name) return story;
  const which = name === stockDatabaseName ? name : `\`${name}\`, from outside`;
  const problem = `the run’s database is ${which}, which this program does not have`;
  throw new EvidenceError('DATABASE_NOT_HERE', problem, {
    hint: 'make its report with the script that ran it: only that script has its checks',
  });
}

const storyFindings = (story: Story, { staleReads, reads, journals }: Answers): Finding[] => [
  ...controlFindings(story, staleReads),
  ...wayBackFindings(story),
  ...readFindings(story, reads, journals.refuted),
];

function licencesIn(
  story: Story,
  { accesses }: Exposure,
): Pick<Verdict, 'licence' | 'licenceGaps' | 'laterLicences'> {
  const { first, later } = licencesOf(story, accesses);
  return {
    licence: [...(first?.steps ?? [])],
    licenceGaps: [...(first?.gaps ?? [])],
    laterLicences: [...later],
  };
}

/** What a verdict says of its run itself. */
export const whichRun = (
  { run, setup, scenario, tells }: Story,
  { sha256 }: Pick<History, 'sha256'>,
) => ({
  basis: run.basis,
  timers: { ...setup?.timers },
  versions: { ...setup?.versions },
  ...(setup?.volume?.provisioning === undefined ? {} : { provisioning: setup.volume.provisioning }),
  ...(tells.hashes && sha256 !== undefined && { historySha256: sha256 }),
  scenario: { ...run.scenario },
  seed: run.seed,
  runId: run.runId,
  replay: replayOf(run.replay, scenario),
  cluster: run.backend,
  ...(run.custom === undefined ? {} : { custom: customIn(run.custom) }),
});

const customIn = ({ checkers, ...parts }: CustomNames): Verdict['custom'] => ({
  ...Object.fromEntries(
    Object.entries(parts).flatMap(([part, own]) => (own === undefined ? [] : [[part, own.name]])),
  ),
  ...(checkers && { checkers: [...checkers] }),
});

const certificatesOf = (story: Story, { marks }: Exposure): CertificateRecord[] => [
  ...story.records.filter((record) => record.type === 'certificate'),
  ...crashCertificates(story),
  ...linkCertificates(story, marks),
];

/** What each copy lacks, and what that comes to. */
function copiesIn(
  reconciliations: Judgement['reconciliations'],
): Pick<Verdict, 'images' | 'missing'> {
  const images = [...reconciliations].map(([image, { acked, lost, unread }]) => ({
    ...{ image, acked, lost: unread === 'gap' ? null : lost, readable: unread === undefined },
  }));
  return { missing: missingOf(images), images };
}

/** It may be there and not be readable. */
const hasLogOf = ({ files }: History): boolean => Object.keys(files).some(isWritesFile);

/** `trouble`: a log that ends too early or has a gap is one only where the verdict leans on it. */
function writesOf(history: History): {
  readonly writes?: WriteLog | undefined;
  readonly trouble: readonly Reason[];
  readonly damage?: readonly Reason[];
} {
  try {
    const writes = history.writes();
    if (writes === undefined) return { trouble: [] };
    const cut = writes.cut ? ['the log of writes is cut'] : [];
    const gap = (words: string): Reason => because('LOG_GAP', words);
    return { writes, trouble: [...cut, ...gapsInWrites(writes)].map(gap) };
  } catch (error) {
    return { trouble: [], damage: [because('LOG_UNREADABLE', describeError(error))] };
  }
}

/** The runner says so in its history: it waited for it within the scenario's bound. */
export const recoveredIn = ({ records }: Story): boolean =>
  records.some(
    (record) => record.type === 'action' && record.name === 'converge' && record.step === 'done',
  );

export const bareCertificate = ({
  fault,
  moment,
  claim,
  holds,
  evidence,
}: CertificateRecord): Verdict['certificates'][number] => ({
  ...{ fault, moment, claim, holds, evidence },
});
