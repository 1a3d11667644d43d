/** The verdict of a run on a group, read from its history alone. */
import { runChecks } from '../checkers/index.ts';
import { nothingRead } from '../checkers/evidence.ts';
import type { AuditedImage } from '../checkers/checker.ts';
import { Journal } from '../checkers/journal.ts';
import { ledgerLost } from '../checkers/ledger-lost.ts';
import { rowCheckers } from '../checkers/ledger-rows.ts';
import { Reconciler } from '../checkers/reconcile.ts';
import { lossOf, lostIn } from '../experiment/verdict/loss.ts';
import { verdictWord, worst } from '../experiment/verdict/verdict.ts';
import type { History } from '../history/reader.ts';
import { ServiceMeter, type Service } from '../timeline/service.ts';
import { groupFindings, type Measured } from './findings.ts';
import { groupIncompleteBecause } from './completeness.ts';
import { groupPhases, rejoinedAtMs } from './phases.ts';
import { groupSentence } from './sentence.ts';
import { tellGroupStory, type GroupStory } from './story.ts';
import type { GroupVerdict } from './verdict.ts';
import { acknowledgedIn, memberChecks, successorService, victimService } from './service.ts';

export function judgeGroup(history: History): GroupVerdict {
  const story = tellGroupStory([...history.smallRecords()]);
  const { run, setup, settings } = story;
  const { service, images, measured } = measure(story, history);
  const findings = [
    ...runChecks(images, [ledgerLost, ...rowCheckers]),
    ...groupFindings(measured, service),
  ];
  const reasons = [
    ...groupIncompleteBecause(story),
    ...findings.flatMap(({ level, summary }) => (level === 'incomplete' ? [summary] : [])),
    ...history.cuts.map((cut) => `the history is cut: ${JSON.stringify(cut)}`),
  ];
  const complete = reasons.length === 0;
  const safety = worst(findings.map((finding) => finding.safety));
  const verdict = verdictWord(safety, complete);
  const told = {
    schemaVersion: 1 as const,
    kind: 'group-replication' as const,
    verdict,
    safety,
    complete,
    incompleteBecause: reasons,
    expected: [...run.scenario.expected],
    asExpected: run.scenario.expected.includes(verdict),
    basis: run.basis,
    ...measured,
    findings,
    certificates: certificatesOf(story),
    timers: { ...setup?.timers },
    versions: { ...setup?.versions },
    settings: { ...settings },
    scenario: { ...run.scenario },
    seed: run.seed,
    runId: run.runId,
    replay: run.replay,
    cluster: 'kind' as const,
  };
  return { sentence: groupSentence(told), ...told };
}

/** What follows from the history before anything is judged. */
interface Measures {
  readonly service: Service;
  readonly images: readonly AuditedImage[];
  readonly measured: Measured;
}

function measure(story: GroupStory, history: History): Measures {
  const { faultAtMs, victim } = story;
  const service = serviceOf(story, history);
  const handoverAtMs = service.firstSuccessorAckMs;
  const journal = new Journal({ faultAtMs, handoverAtMs, victimNode: victim });
  for (const op of history.ops()) journal.add(op);
  const images = readingsOf(story, journal, history);
  const acknowledged = acknowledgedIn(history.ops());
  const loss = lossOf(new Map(images.map(({ image, reconciliation }) => [image, reconciliation])));
  const measured: Measured = {
    availability: {
      downtimeMs: service.downtimeMs,
      recovered: story.records.some(
        (each) => each.type === 'action' && each.name === 'converge' && each.step === 'done',
      ),
      rejoined: rejoinedAtMs(story) !== undefined,
    },
    acked: service.acked,
    lost: lostIn(loss),
    loss,
    readings: images.map(({ image, reconciliation: { acked, lost } }) => ({
      reading: image === 'first' ? 'first' : 'second',
      node: story.ledgers.find((each) => each.image === image)?.node ?? '',
      acked,
      lost,
    })),
    victim: victimService(story, history.ops(), acknowledged),
    successor: successorService(story, acknowledged),
    phases: groupPhases(story, service.firstSuccessorAckMs),
    members: memberChecks(story),
  };
  return { service, images, measured };
}

const certificatesOf = ({ records }: GroupStory): GroupVerdict['certificates'] =>
  records
    .filter((record) => record.type === 'certificate')
    .map(({ fault, moment, claim, holds, evidence }) => ({
      fault,
      moment,
      claim,
      holds,
      evidence,
    }));

function serviceOf({ faultAtMs, endAtMs, victim }: GroupStory, history: History): Service {
  const meter = new ServiceMeter({ faultAtMs, endAtMs, victimNode: victim });
  for (const record of history.records()) {
    if (record.type === 'session' || record.type === 'outcome') meter.see(record);
  }
  return meter.result();
}

/** The group's ledger before the heal and after it, each against what clients were told. */
function readingsOf(story: GroupStory, journal: Journal, history: History): AuditedImage[] {
  const images: AuditedImage[] = [];
  let before: Reconciler | undefined;
  for (const { image, takenAtMs, rows = 0 } of story.ledgers) {
    if (image === undefined) continue;
    const seed = story.run.seed;
    const options = { journal, seed, takenAtMs };
    const reconciler = new Reconciler(before === undefined ? options : { ...options, before });
    for (const row of history.rows(image)) reconciler.row(row);
    const previous = images.at(-1);
    const about = {
      image,
      takenAtMs,
      evidence: { ...nothingRead, ledgerComplete: true, ledgerRows: rows },
      reconciliation: reconciler.result(),
    };
    images.push(previous === undefined ? about : { ...about, before: previous });
    before = reconciler;
  }
  return images;
}
