/**
 * The clean volumes among runs on real clusters, told by their scenarios and never by their verdicts: each
 * run's volume until its fault, and for good where the scenario expects nothing but `safe` and the
 * disk's own log knows of no time in which two could write.
 */
import { judgeImages, type EpochBounds, exposureOf, tellStory } from '../../lib/judge/index.ts';
import type { Scenario } from '../../lib/scenario/index.ts';
import type {
  ImageRecord,
  RunRecord,
  ImageLabel,
  History,
  SmallRecord,
} from '../../lib/history/index.ts';
import { dateOf, versionsOf } from '../../lib/batch/index.ts';
import { saidOf, type CleanVolume } from './volume.ts';
import { mysql } from '../../lib/mysql/index.ts';

/** Undefined where the run is the model’s, or was ended before an image was audited. */
export function cleanVolumeOf(history: History, source: string): CleanVolume | undefined {
  const records = [...history.smallRecords()];
  const run = records.find((record) => record.type === 'run');
  const images = records.filter((record) => record.type === 'image');
  if (run === undefined || run.basis === 'predicted') return undefined;
  const isSafe = expectsSafeOnly(run) && !twoCouldWrite(records, history);
  const clean = isSafe ? images : images.filter(({ image }) => image === 'steady');
  const last = clean.at(-1);
  if (last === undefined) return undefined;
  const { findings, reconciliations } = judgeClean(history, clean);
  const { runId, seed, basis, scenario } = run;
  return {
    ...{ kind: 'clean-volume', id: runId, seed, source, date: dateOf(records) },
    scenario: {
      via: run.backend,
      story: isSafe ? safeStory(run) : 'written under load, before any fault',
      filesystem: filesystemOf(scenario),
    },
    outcome: {
      images: clean.length,
      acked: reconciliations.get(last.image)?.acked ?? 0,
      ...saidOf(findings),
    },
    basis,
    versions: versionsOf(records.find((record) => record.type === 'setup')?.versions ?? {}),
  };
}

/** Histories from before there was a choice do not say it. */
const filesystemOf = ({ volume }: Partial<Scenario>): string => volume?.filesystem ?? 'ext4';

const expectsSafeOnly = ({ scenario }: RunRecord): boolean =>
  scenario.expected.every((verdict) => verdict === 'safe' || verdict === 'inconclusive');

/** What the disk counted, not what the audit says: an expectation may be wrong. */
const twoCouldWrite = (records: readonly SmallRecord[], history: History): boolean =>
  exposureOf(tellStory(records, mysql), { writes: history.writes() }).summary.ms > 0;

function safeStory({ scenario }: RunRecord): string {
  const { fault, remedy, disk } = scenario;
  return `${fault.kind}, remedy ${remedy.kind}, disk ${disk.mode}`;
}

function judgeClean(
  history: History,
  clean: readonly ImageRecord[],
): ReturnType<typeof judgeImages> {
  const labels = new Set<ImageLabel>(clean.map(({ image }) => image));
  const noMoments: EpochBounds = {};
  return judgeImages(
    {
      *smallRecords() {
        for (const record of history.smallRecords()) {
          if (record.type !== 'image' || labels.has(record.image)) yield record;
        }
      },
      visitOps: (visit) => history.visitOps(visit),
      rows: (image) => history.rows(image),
    },
    noMoments,
    { database: mysql },
  );
}
