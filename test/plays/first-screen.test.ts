/**
 * First screens of every kind of page, of each verdict: headline, colours, chips, tiles, chart and causes say the
 * same, in plain words.
 */
import { combined } from '../../lib/scenario/index.ts';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { sentenceOf } from '../../lib/judge/verdict/words.ts';
import type { Verdict, VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import { judgeGroup } from '../../lib/judge/group/judge-group.ts';
import { renderGroupHtml } from '../../lib/report/group.ts';
import { groupSentence } from '../../lib/judge/group/sentence.ts';
import type { GroupVerdict } from '../../lib/judge/group/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { readBatch } from '../../lib/cli/commands/batch.ts';
import { classifyCut } from '../../lib/probe/judge/cut.ts';
import { judgeTrials } from '../../lib/probe/judge/measured.ts';
import { readCutCertificate } from '../../lib/probe/certificate.ts';
import { renderCertificateHtml, renderCutHtml } from '../../lib/probe/published/html.ts';
import { renderBatchHtml } from '../../lib/report/batch/html.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { secondsShown } from '../../lib/core/time.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { scenarioOf } from '../../lib/report/wording.ts';
import { cutsIn, driverVersions, wholeCertificates } from '../../scripts/driver-files.ts';
import { committedNames, corpusNames, corpusRun } from '../support/committed.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

const plain = (markup: string): string =>
  markup
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#39;|&quot;/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim();

const between = (page: string, from: string, to: string): string =>
  page.split(from)[1]?.split(to)[0] ?? '';

/** What a reader gets before scrolling, by its parts. */
function screenOf(page: string) {
  const header = between(page, '<header>', '</header>');
  return {
    title: plain(between(page, '<title>', '</title>')),
    band: between(page, '<div class="band ', '"').trim().split(' '),
    word: /<span class="chip word ([a-z]+)">([^<]*)</.exec(header) ?? [],
    headline: plain(between(header, '<h1>', '</h1>')),
    sentence: plain(between(header, '</h1>\n<p>', '</p>')),
    header: plain(header),
    alarms: [...header.matchAll(/<span class="chip alarm">([^<]*)</g)].map(([, text]) => text),
    advice: plain(between(page, '<h2>What to do</h2>', '</section>')),
    applies: plain(between(page, '<h2>This applies to you if</h2><ul>', '</ul>')),
    causes: plain(between(page, '<ol class="licence">', '</ol>')),
  };
}

/** Text of the tile with that name; undefined where there is none. */
const tile = (page: string, name: string): readonly [string, string] | undefined => {
  const text = page.replaceAll(/<a class="term"[^>]*>([^<]*)<\/a>/g, '$1');
  const found = new RegExp(`<dt>${name}</dt><dd[^>]*>([^<]*)<small>([^<]*)<`).exec(text);
  return found === null ? undefined : [found[1] ?? '', found[2] ?? ''];
};

/** Words of a program that are a person's, and numbers that no person writes. */
const unplain =
  /\b(nobody|somebody|anew|who|told|tells|seen|asked)\b|\d\.\d{4,}|is broken, or|NaN|undefined|null/i;

/** Of every kind of page. */
function expectPlain(page: string, tone: VerdictWord): ReturnType<typeof screenOf> {
  const screen = screenOf(page);
  const { band, word, headline, sentence, advice, applies, alarms } = screen;
  expect({ band: band[0], word: word[1] }).toEqual({ band: tone, word: tone });
  expect(headline.split(' ').length, headline).toBeLessThanOrEqual(15);
  // A batch's question is its author's.
  for (const text of [headline, advice, applies]) expect(text).not.toMatch(unplain);
  expect(advice).not.toBe('');
  // What the colour does not show a chip says, and the band.
  if (band.includes('caveat')) expect(alarms.length).toBeGreaterThan(0);
  expect(sentence).not.toBe('');
  return screen;
}

async function expectRun(verdict: Verdict, folder: string): Promise<void> {
  const history = openHistory(folder);
  const data = reportData(verdict, history, mysql);
  const page = await renderHtml(data);
  const screen = expectPlain(page, verdict.verdict);
  const { header, sentence, applies, causes, title } = screen;
  const { timeline, licence } = data;
  const { phases, exposure, horizonS, images, findings, loss } = verdict;
  expect(sentence).not.toMatch(unplain);
  expect(title.startsWith(`${verdict.verdict.toUpperCase()}: `)).toBe(true);
  expectSameHandover();
  expectSameCommits();
  expectSameCause();
  expectSameFault();

  /** Headline, tiles, chart, lanes and causes of the hand-over. */
  function expectSameHandover(): void {
    const facts = { secondMount: phases.secondMount !== null, overlap: exposure.ms > 0 };
    const mountedBeforeHeal = timeline.lanes
      .filter(({ role, group }) => role !== 'victim' && group === 'mount')
      .flatMap(({ bars }) => bars)
      .some(({ fromS, label }) => fromS >= 0 && fromS <= horizonS && label === 'mounted');
    const told = {
      headline: {
        secondMount: /another node mounted the volume/i.test(sentence),
        overlap: /two nodes could write/i.test(sentence),
      },
      tiles: {
        // Else it says none, or that it was refused.
        secondMount: /^[\d.]+ s$/.test(tile(page, 'Second mount')?.[0] ?? ''),
        // A run whose fault never came has none to know of.
        overlap: ![secondsShown(0), 'not known'].includes(
          tile(page, 'Two could write for')?.[0] ?? '',
        ),
      },
      chart: {
        secondMount: timeline.moments.some(({ label }) => label === 'second mount'),
        overlap: timeline.exposure !== null,
      },
    };
    expect(told).toEqual({ headline: facts, tiles: facts, chart: facts });
    expect(mountedBeforeHeal).toBe(facts.secondMount);
    // Without a mount there may be causes, of an attachment that was refused.
    expect(licence.some(({ step }) => /mounted|second/i.test(step))).toBe(facts.secondMount);
    expect(page.includes('What let the second writer in')).toBe(facts.overlap);
  }

  /** One number of lost commits, and no comfort beside it. */
  function expectSameCommits(): void {
    const [value = '', more = ''] = tile(page, 'Acknowledged commits') ?? [];
    const last = images.findLast(({ image, lost }) => image !== 'steady' && lost !== null);
    const isWhole = last?.lost === 0 && last.readable;
    expect(/^0 of [\d,]+ lost$/.test(value)).toBe(isWhole);
    const [number] = /^[\d,]+ of [\d,]+/.exec(value) ?? [''];
    if (!isWhole && verdict.verdict !== 'inconclusive') expect(header).toContain(number);
    if (verdict.verdict === 'safe') expect(header).toMatch(/[Aa]ll [\d,]+ acknowledged commits/);
    expect(more).not.toBe('');
    const [, downtime = ''] = tile(page, 'Downtime') ?? [];
    const isLostAgain = (loss?.successor.lost ?? 0) > 0;
    expect(/^then commits came back$/.test(downtime)).toBe(verdict.serving.served && !isLostAgain);
  }

  /** The known cause, in the sentence and in the tile. */
  function expectSameCause(): void {
    const [word = '', more = ''] = tile(page, 'Safety') ?? [];
    expect(word).toBe(verdict.verdict === 'inconclusive' ? 'not proven' : verdict.safety);
    if (verdict.verdict === 'corrupt') {
      expect(sentence).toContain(`The database is corrupt: ${more}.`);
      expect(findings.some(({ safety }) => safety === 'corrupt')).toBe(true);
    }
    // Without a verdict no condition has led to it.
    expect(applies === '').toBe(verdict.verdict === 'inconclusive');
  }

  /** The harness's own fault is not the storage's, and a frozen server is not up. */
  function expectSameFault(): void {
    const { fault, disk } = scenarioOf(verdict);
    expect(header + applies).not.toContain('nothing cuts');
    if (causes.includes('the storage cut the old node off')) {
      expect({ fault: { kind: fault.kind }, disk: { mode: disk.mode } }).not.toMatchObject({
        disk: { mode: 'unfenced' },
      });
    }
    // Without a fault there is no victim.
    if (horizonS === 0) return;
    const own = timeline.lanes.find(
      ({ role, group, label }) => role === 'victim' && group === 'server' && label === 'mysqld',
    );
    expect(own).toBeDefined();
    const atS = Math.min(30, horizonS / 2);
    const during = own?.bars.filter(({ fromS, toS }) => fromS < atS && toS > atS) ?? [];
    const labels = during.map(({ label }) => label);
    if (fault.kind === 'freeze') expect(labels).toEqual(['frozen']);
    if (fault.kind === 'node-crash') expect(labels).not.toContain('up');
  }
}

/** The same run, as if evidence were missing. */
function withoutEvidence(verdict: Verdict): Verdict {
  const inconclusive: Verdict = {
    ...verdict,
    ...{ verdict: 'inconclusive', complete: false, asExpected: false },
    incompleteBecause: ['the second image was not audited'],
  };
  return { ...inconclusive, sentence: sentenceOf(inconclusive, mysql) };
}

describe('runs', () => {
  const samples = committedNames('reports/samples').map((name) => join('reports/samples', name));
  // An idle run's judge writes that a log "tells of damage": its words are kept until the judge is written again.
  const corpus = corpusNames('runs')
    .filter((name) => name !== 'idle-kubelet-stands-still')
    .map(corpusRun);
  test.each([...samples, ...corpus])('%s', async (folder) => {
    const verdict = assembleVerdict(openHistory(folder), { database: mysql });
    await expectRun(verdict, folder);
    if (verdict.verdict === 'safe') await expectRun(withoutEvidence(verdict), folder);
  });

  const crash = { fault: { kind: 'node-crash' }, remedy: { kind: 'force-delete' } } as const;
  const cases: readonly (readonly [string, Partial<ScenarioInput>])[] = [
    ['an unfenced disk', { remedy: { kind: 'force-delete' }, disk: { mode: 'unfenced' } }],
    ['a fenced disk', { remedy: { kind: 'force-delete' }, disk: { mode: 'fenced' } }],
    ['a path that fails', { remedy: { kind: 'force-delete' }, fault: { link: 'errors' } }],
    ['nobody acts', { remedy: { kind: 'none' } }],
    ['a crash', crash],
    [
      'a crash with early acknowledgements',
      { ...crash, database: { trxCommit: 2, binlog: 'off' }, load: { rate: 100 } },
    ],
    ['a frozen node', { fault: { kind: 'freeze' }, remedy: { kind: 'force-delete' } }],
    [
      'a refused mount',
      {
        remedy: { kind: 'force-delete' },
        disk: { mode: 'unfenced' },
        volume: { filesystem: 'ext4-mmp' },
      },
    ],
  ];
  test.each(cases)('model: %s', async (_, fields) => {
    const { folder: run, verdict } = await runOnModel(modelScenario(combined(shortTimers, fields)));
    await expectRun(verdict, run);
  });
});

describe('groups', () => {
  const expectGroup = async (verdict: GroupVerdict): Promise<void> => {
    const page = await renderGroupHtml(verdict, mysql);
    const { band, sentence, alarms, headline } = expectPlain(page, verdict.verdict);
    expect(sentence).not.toMatch(unplain);
    const { staleReads, readsAnswered } = verdict.victim;
    expect(band.includes('caveat')).toBe(staleReads > 0);
    if (staleReads > 0) {
      const [first = ''] = sentence.split('. ');
      expect(first).toContain(`${staleReads} of ${readsAnswered} reads with stale data`);
      expect(alarms).toContain(`${staleReads} of ${readsAnswered} reads stale`);
      if (verdict.verdict === 'safe') expect(headline).toContain(`${staleReads} stale reads`);
    }
    expect(tile(page, 'Stale reads at the old primary')?.[0]).toBe(
      `${staleReads} of ${readsAnswered}`,
    );
    const [commits = ''] = tile(page, 'Acknowledged commits') ?? [];
    expect(sentence).toContain(
      commits === 'not known' ? 'not known' : commits.replace(' lost', ''),
    );
  };
  test.each(corpusNames('groups'))('%s', async (name) => {
    const verdict = judgeGroup(openHistory(corpusRun(name)), { database: mysql });
    await expectGroup(verdict);
    for (const change of [
      { verdict: 'lost', safety: 'lost', lost: 3 },
      { verdict: 'exposed', safety: 'exposed' },
      { verdict: 'corrupt', safety: 'corrupt' },
      { verdict: 'inconclusive', lost: null, complete: false, incompleteBecause: ['made up'] },
    ] as const satisfies readonly object[]) {
      const changed = { ...verdict, ...change, incompleteBecause: [] } as GroupVerdict;
      await expectGroup({ ...changed, sentence: groupSentence(changed) });
    }
  });
});

describe('certificates', () => {
  const root = 'test/fixtures/certificates';
  const versions = driverVersions(root);
  test.each(versions)('$driver $version', async ({ driver, version }) => {
    for (const certificate of wholeCertificates(root, driver, version)) {
      const judged = { ...certificate, ...judgeTrials(certificate.trials, certificate.plan) };
      const page = await renderCertificateHtml(judged);
      const { modes } = judged.answer;
      const tone: VerdictWord =
        modes.length === 0
          ? 'inconclusive'
          : modes.some((mode) => /^(unfenced|ack-early|fence-if-out-of-service)$/.test(mode))
            ? 'exposed'
            : 'safe';
      const { word } = expectPlain(page, tone);
      expect(word[2]).toBe(modes.length === 0 ? 'undecided' : modes.join(' or '));
      expect(page).not.toMatch(/<td class="text">(not-cut|cut|late-cut) \d/);
    }
    for (const { text } of cutsIn(root, driver, version)) {
      const cut = readCutCertificate(text);
      const findings = cut.record.volumes.map((volume) =>
        classifyCut(cut.record, volume, cut.plan),
      );
      const both = findings.filter(({ outcome }) =>
        ['both-wrote', 'wrote-after-heal', 'late-cut'].includes(outcome),
      );
      const isOpen = findings.some(({ outcome }) => ['undecided', 'path-cut'].includes(outcome));
      const { headline } = expectPlain(
        await renderCutHtml({ ...cut, findings }),
        both.length > 0 ? 'exposed' : isOpen ? 'inconclusive' : 'safe',
      );
      if (both.length > 0) expect(headline).toContain(`${both.length} of ${findings.length}`);
    }
  });
});

describe('batches', () => {
  const folder = 'reports/matrix';
  test.each(committedNames(folder))('%s', async (name) => {
    const batch = readBatch(join(folder, name));
    const page = {
      ...{ batch, addressOf: () => undefined, verdictOf: () => undefined, baseline: undefined },
      remakeOf: () => '',
    };
    const { band, word, title, header } = screenOf(await renderBatchHtml(page));
    const words = new Set(batch.cells.map(({ verdict }) => verdict));
    const worst = (['corrupt', 'lost', 'exposed', 'safe'] as const).find((each) => words.has(each));
    const tone = batch.verdict === 'inconclusive' ? 'inconclusive' : worst;
    expect({ band: band[0], word: word[2] }).toEqual({ band: tone, word: tone });
    expect(title).toMatch(new RegExp(`^${String(tone).toUpperCase()}: `));
    expect(header).not.toMatch(/\bEXPECTED\b(?<!NOT as expected)/);
  });
});
