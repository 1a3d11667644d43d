/** The verdict of a run, read from its history alone. */
import type { Checker } from '../checkers/checker.ts';
import { allCheckers, judgeImages, type Judgement } from '../checkers/index.ts';
import type { LostCommit } from '../checkers/lost-commits.ts';
import type { JudgedDatabase } from '../database.ts';
import { describeError } from '../../core/index.ts';
import { crashCertificates, linkCertificates } from '../evidence/disk-certificates.ts';
import {
  type CertificateRecord,
  type CustomNames,
  replayOf,
  type History,
  gapsInWrites,
  type WriteLog,
} from '../../history/index.ts';
import { accessConflicts } from '../timeline/access.ts';
import type { CutOffAnswers } from '../timeline/cut-off-answers.ts';
import { exposureOf, type Exposure } from '../timeline/exposure.ts';
import { licencesOf } from '../timeline/licence.ts';
import { phasesOf } from '../timeline/phases.ts';
import { tellStory, type Story } from '../timeline/story.ts';
import { incompleteBecause, nothingTested } from '../evidence/completeness.ts';
import { answersIn, type Answers } from './answers.ts';
import { controlFindings, readFindings } from './control-findings.ts';
import { absentCheckers, mustBeOf } from './own-names.ts';
import { cutsNotSeen, disagreements } from '../evidence/disagreements.ts';
import { diskFindings, wayBackFindings } from './disk-findings.ts';
import { refutedBy } from '../evidence/fault-effect.ts';
import { lossOf, lostIn, missingOf } from './loss.ts';
import { noticedBy, noticesOf } from './notices.ts';
import { recordGaps } from '../evidence/journal-gaps.ts';
import { refusedMountsOf } from '../timeline/refused-mounts.ts';
import { sentenceOf } from './sentence.ts';
import { judgeExpectation } from '../expectation/serving-expectation.ts';
import { verdictWord, worst, type Finding, type Verdict } from './verdict.ts';

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
  const { service, reads, cutOff } = answers;
  const { writes, trouble } = writesOf(history);
  const { reasons: gaps, withGaps, without } = recordGaps(story, history, answers);
  const exposure = exposureOf(story, { writes, lastVictimAckMs: service.lastVictimAckMs });
  const { findings: damage, reconciliations } = judgeImages(
    // The story has read them already.
    { ...history, smallRecords: () => story.records },
    { faultAtMs, handoverAtMs: exposure.handoverAtMs, victimNode },
    {
      ...{ database, seen: reads.seen, without, withGaps, onLost },
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
    ...incompleteBecause(story, certificates, findings),
    ...contradictionsIn(story, { exposure, writes, cutOff }),
    ...nothingTested(story, reconciliations),
    ...absentCheckers(run.custom, own),
    // Where nobody could write together, counters say enough.
    ...(exposure.summary.ms > 0 ? trouble : []),
    ...gaps,
  ];
  const safety = worst(findings.map((finding) => finding.safety));
  const verdict = verdictWord(safety, reasons.length === 0);
  const loss = lossOf(reconciliations);
  const recovered = recoveredIn(story);
  const told = {
    schemaVersion: 1 as const,
    verdict,
    safety,
    complete: reasons.length === 0,
    incompleteBecause: reasons,
    expected: [...run.scenario.expected],
    ...judgeExpectation(run.scenario, { verdict, served: recovered || service.successorServesOn }),
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
    ...whichRun(story),
  };
  return { sentence: sentenceOf(told, database), ...told };
}

function storyOf(history: History, database: JudgedDatabase): Story {
  const story = tellStory([...history.smallRecords()], database);
  mustBeOf(story.run.custom, database);
  return story;
}

const storyFindings = (story: Story, { staleReads, reads }: Answers): Finding[] => [
  ...controlFindings(story, staleReads),
  ...wayBackFindings(story),
  ...readFindings(story, reads),
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

type OfTestbed = Pick<Verdict, 'basis' | 'timers' | 'versions' | 'provisioning' | 'cluster'>;
type OfRun = Pick<Verdict, 'scenario' | 'seed' | 'runId' | 'replay' | 'custom'>;

/** What a verdict says of its run itself. */
export const whichRun = ({ run, setup, scenario }: Story): OfTestbed & OfRun => ({
  basis: run.basis,
  timers: { ...setup?.timers },
  versions: { ...setup?.versions },
  ...(setup?.volume?.provisioning === undefined ? {} : { provisioning: setup.volume.provisioning }),
  scenario: { ...run.scenario },
  seed: run.seed,
  runId: run.runId,
  replay: replayOf(run.replay, scenario),
  cluster: run.backend,
  ...(run.custom === undefined ? {} : { custom: customIn(run.custom) }),
});

const customIn = ({
  fault,
  remedy,
  database,
  checkers: names,
}: CustomNames): Verdict['custom'] => ({
  ...(fault === undefined ? {} : { fault: fault.name }),
  ...(remedy === undefined ? {} : { remedy: remedy.name }),
  ...(database === undefined ? {} : { database: database.name }),
  ...(names === undefined ? {} : { checkers: [...names] }),
});

const certificatesOf = (story: Story, { marks }: Exposure): CertificateRecord[] => [
  ...story.records.filter((record) => record.type === 'certificate'),
  ...crashCertificates(story),
  ...linkCertificates(story, marks),
];

/** Where one record says what another one excludes: neither is believed. */
function contradictionsIn(
  story: Story,
  { exposure, writes, cutOff }: WriteEvidence,
): readonly string[] {
  const whole = writes === undefined || gapsInWrites(writes).length > 0 ? undefined : writes;
  return [
    ...(writes === undefined ? [] : accessConflicts(story, exposure.accesses)),
    ...refutedBy(story, cutOff),
    ...disagreements(story, whole),
    ...cutsNotSeen(story, whole),
  ];
}

interface WriteEvidence {
  readonly exposure: Exposure;
  readonly writes: WriteLog | undefined;
  readonly cutOff: CutOffAnswers;
}

/** What each copy lacks, and what that comes to. */
function copiesIn(
  reconciliations: Judgement['reconciliations'],
): Pick<Verdict, 'images' | 'missing'> {
  const images = [...reconciliations].map(([image, { acked, lost, unread }]) => ({
    ...{ image, acked, lost: unread === 'gap' ? null : lost, readable: unread === undefined },
  }));
  return { missing: missingOf(images), images };
}

/** A log that can't be read, or not to its end, is trouble only where the verdict leans on it. */
function writesOf(history: History): {
  readonly writes?: WriteLog | undefined;
  readonly trouble: readonly string[];
} {
  try {
    const writes = history.writes();
    if (writes === undefined) return { trouble: [] };
    const cut = writes.cut ? ['the log of writes is cut'] : [];
    return { writes, trouble: [...cut, ...gapsInWrites(writes)] };
  } catch (error) {
    return { trouble: [describeError(error)] };
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
