/** The verdict of a run on a group, read from its history alone. */
import type { AuditedImage } from '../checkers/checker.ts';
import { nothingRead, ClientJournals, type History } from '../../history/index.ts';
import { runChecks } from '../checkers/index.ts';
import { Journal } from '../checkers/journal.ts';
import { ledgerLost, rowCheckers } from '../checkers/ledger.ts';
import { Reconciler, SeenCommits } from '../checkers/reconcile.ts';
import { evidenceOf } from '../facts/evidence.ts';
import { servedMeter } from '../facts/served.ts';
import { bothWroteIn } from '../facts/group.ts';
import { disagreementsIn, groupFacts, reasonOf } from '../facts/table.ts';
import { incompleteBecause } from '../evidence/completeness.ts';
import { recordGaps } from '../evidence/journals.ts';
import {
  absentCheckers,
  bareCertificate,
  recoveredIn,
  whichRun,
  type AssembleOptions,
  lossOf,
  lostIn,
} from '../verdict/assemble.ts';
import { because } from '../facts/witnessed.ts';
import { wordsOf } from '../verdict/verdict.ts';
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
  const certificates = story.records.filter((record) => record.type === 'certificate');
  const attended = { story, journals, hasLog: false };
  const isRead = story.reads.some(
    ({ node, heads }) => node === story.victimNode && heads !== undefined,
  );
  const reasons = [
    ...incompleteBecause(attended, certificates, findings),
    ...(isRead ? [] : [because('VICTIM_UNREAD', 'no client ever read at the victim')]),
    ...recordGaps(attended, history).reasons,
    ...disagreementsIn(evidenceOf(story, undefined, served), groupFacts).map(reasonOf),
    ...images
      .filter(({ reconciliation }) => reconciliation.unread === 'gap')
      .map(({ image, evidence, reconciliation: { rows } }) => {
        const words = `the history has ${rows} of ${evidence.ledgerRows} rows of the ${image} reading`;
        return because('ROWS_MISSING', words, { image, rows });
      }),
    ...absentCheckers(run.custom, own),
  ];
  const words = wordsOf(run, findings, reasons);
  const judged = {
    schemaVersion: 1 as const,
    kind: 'group-replication' as const,
    ...words,
    asExpected: words.expected.includes(words.verdict),
    ...measured,
    findings,
    certificates: certificates.map(bareCertificate),
    settings: { ...settings },
    ...whichRun(story, history),
  };
  return { sentence: groupSentence(judged), ...judged };
}

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
