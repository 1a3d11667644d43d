/** The verdict of a run on a group, read from its history alone. */
import { silencesIn } from '../../core/index.ts';
import type { AuditedImage } from '../checkers/checker.ts';
import {
  beatWithinMs,
  clientSides,
  nothingRead,
  ClientJournals,
  type CertificateRecord,
  type History,
} from '../../history/index.ts';
import { runChecks } from '../checkers/index.ts';
import { Journal } from '../checkers/journal.ts';
import { ledgerLost, rowCheckers } from '../checkers/ledger.ts';
import { Reconciler, SeenCommits } from '../checkers/reconcile.ts';
import { certificateGaps } from '../evidence/certificates.ts';
import { evidenceOf } from '../facts/evidence.ts';
import { servedMeter } from '../facts/served.ts';
import { bothWroteIn } from '../facts/group.ts';
import { disagreementsIn, groupFacts, mutesIn, reasonOf } from '../facts/table.ts';
import { cutsIn, journalGaps } from '../evidence/journals.ts';
import { clientGaps } from '../evidence/clients.ts';
import { lateTimers, observerGaps } from '../evidence/observers.ts';
import { failedCertificates, neverInjected, recordedTrouble } from '../evidence/completeness.ts';
import {
  absentCheckers,
  bareCertificate,
  recoveredIn,
  whichRun,
  type AssembleOptions,
  lossOf,
  lostIn,
} from '../verdict/assemble.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import { verdictWord, worst } from '../verdict/verdict.ts';
import { ServiceMeter, measure } from '../timeline/clients.ts';
import { groupFindings } from './findings.ts';
import { groupPhases, rejoinedAtMs } from './phases.ts';
import { acknowledgedIn, memberChecks, successorService, victimService } from './service.ts';
import { groupSentence } from './sentence.ts';
import { type GroupStory, tellGroupStory } from './story.ts';
import type { GroupVerdict } from './verdict.ts';

export function judgeGroup(
  history: History,
  { database, checkers: own = [] }: Pick<AssembleOptions, 'database' | 'checkers'>,
): GroupVerdict {
  const story = tellGroupStory([...history.smallRecords()], database);
  const { run, settings } = story;
  const { journals, served, images, measured } = measuredIn(story, history);
  const findings = [
    ...runChecks(images, [ledgerLost, ...rowCheckers, ...own]),
    ...groupFindings(measured, story, bothWroteIn(story, history.ops())),
  ];
  const reasons = [
    ...groupIncompleteBecause(story, history, journals),
    ...disagreementsIn(evidenceOf(story, undefined, served), groupFacts).map(reasonOf),
    ...images
      .filter(({ reconciliation }) => reconciliation.unread === 'gap')
      .map(({ image, evidence, reconciliation: { rows } }) => {
        const words = `the history has ${rows} of ${evidence.ledgerRows} rows of the ${image} reading`;
        return because('ROWS_MISSING', words, { image, rows });
      }),
    ...findings.flatMap(({ level, code, summary }) =>
      level === 'incomplete' ? [because(code, summary)] : [],
    ),
    ...absentCheckers(run.custom, own),
  ];
  const complete = reasons.length === 0;
  const safety = worst(findings.map((finding) => finding.safety));
  const verdict = verdictWord(safety, complete);
  const judged = {
    schemaVersion: 1 as const,
    kind: 'group-replication' as const,
    verdict,
    safety,
    complete,
    incompleteBecause: reasons.map(({ words }) => words),
    reasons,
    expected: [...run.scenario.expected],
    asExpected: run.scenario.expected.includes(verdict),
    ...measured,
    findings,
    certificates: certificatesIn(story).map(bareCertificate),
    settings: { ...settings },
    ...whichRun(story, history),
  };
  return { sentence: groupSentence(judged), ...judged };
}

const certificatesIn = ({ records }: GroupStory): CertificateRecord[] =>
  records.filter((record) => record.type === 'certificate');

/** What follows from the history before anything is judged. */
function measuredIn(story: GroupStory, history: History) {
  const { faultAtMs, endAtMs, victimNode } = story;
  const meter = new ServiceMeter({ faultAtMs, endAtMs, victimNode });
  const journals = new ClientJournals();
  const serving = servedMeter();
  measure(history.answers(journals), [meter, serving]);
  const service = meter.result();
  const handoverAtMs = service.firstSuccessorAckMs;
  const journal = new Journal({ faultAtMs, handoverAtMs, victimNode });
  for (const op of history.ops()) journal.add(op);
  const images = readingsOf(story, journal, history);
  const acknowledged = acknowledgedIn(history.ops());
  const loss = lossOf(new Map(images.map(({ image, reconciliation }) => [image, reconciliation])));
  const measured = {
    availability: {
      downtimeMs: service.downtimeMs,
      recovered: recoveredIn(story),
      rejoined: rejoinedAtMs(story) !== undefined,
    },
    acked: service.acked,
    lost: lostIn(loss),
    loss,
    readings: images.map(({ image, reconciliation: { acked, lost } }) => ({
      reading: image === 'first' ? ('first' as const) : ('second' as const),
      node: story.ledgers.find((each) => each.image === image)?.node ?? '',
      acked,
      lost,
    })),
    victim: victimService(story, history.ops(), acknowledged),
    successor: successorService(story, acknowledged),
    phases: groupPhases(story, service.firstSuccessorAckMs),
    members: memberChecks(story),
  };
  return { journals, served: serving.result(), images, measured };
}

/** The group's ledger before the heal and after it, each against what clients had acknowledged. */
function readingsOf(story: GroupStory, journal: Journal, history: History): AuditedImage[] {
  const images: AuditedImage[] = [];
  let before: Reconciler | undefined;
  for (const { image, takenAtMs, rows = 0 } of story.ledgers) {
    if (image === undefined) continue;
    const about = { journal, seed: story.run.seed, takenAtMs, seen: seenIn(story) };
    const reconciler = new Reconciler(before === undefined ? about : { ...about, before });
    for (const row of history.rows(image)) reconciler.row(row);
    const previous = images.at(-1);
    const unread = reconciler.rows === rows ? undefined : 'gap';
    images.push({
      ...{ image, takenAtMs, reconciliation: reconciler.result(unread) },
      evidence: { ...nothingRead(), ledgerComplete: unread === undefined, ledgerRows: rows },
      ...(previous === undefined ? {} : { before: previous }),
    });
    before = unread === undefined ? reconciler : undefined;
  }
  return images;
}

/** By readers, of what the outside client wrote: its sessions are stored in order. */
function seenIn({ reads }: GroupStory): SeenCommits {
  const seen = new SeenCommits();
  for (const { side, node, t: atMs, heads = {} } of reads) {
    for (const [key, seq] of Object.entries(heads)) {
      const [connection = 0, session = 0] = key.split('/').map(Number);
      const by = `the ${side} reader on ${node}`;
      seen.add({ ...{ client: 'outside', connection, session, seq }, atMs, by });
    }
  }
  return seen;
}

/** Is every needed piece of evidence there? No reason why not means complete. */
function groupIncompleteBecause(
  story: GroupStory,
  history: History,
  journals: ClientJournals,
): Reason[] {
  const { records, faultDoneAtMs, reads, victimNode } = story;
  const reasons = [...recordedTrouble(records), ...failedCertificates(certificatesIn(story))];
  if (faultDoneAtMs === undefined) reasons.push(neverInjected());
  if (!reads.some(({ node, heads }) => node === victimNode && heads !== undefined)) {
    reasons.push(because('VICTIM_UNREAD', 'no client ever read at the victim'));
  }
  return [
    ...reasons,
    ...certificateGaps(story),
    ...clientGaps(story, journals, { writesOnly: true }),
    ...journalGaps(story, history),
    ...mutesIn(story, { hasLog: false }),
    ...observerGaps(story),
    ...readerGaps(story),
    ...lateTimers(story),
    ...cutsIn(history),
  ];
}

/** Who asks the members reads the ledger twice a second, on either side, whatever it is answered. */
function readerGaps({ tells, reads, faultAtMs, endAtMs }: GroupStory): Reason[] {
  if (!tells.ends || faultAtMs === undefined) return [];
  return clientSides.flatMap((side) => {
    const times = reads
      .filter((read) => read.side === side && read.t > faultAtMs && read.t < endAtMs)
      .map(({ t }) => t);
    return silencesIn([faultAtMs, ...times, endAtMs], beatWithinMs).map((gap) => {
      const words = `nothing read the ledger from the ${side} ${gap}`;
      return because('OBSERVER_SILENT', words, { source: 'group', side });
    });
  });
}
