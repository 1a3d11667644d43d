/** What holds of every run and its verdict, whatever the scenario. */
import { isOpen } from '../../lib/judge/expectation/expectations.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import { verdictSchema, verdictWord, type Verdict } from '../../lib/judge/verdict/verdict.ts';
import type { Played } from './play-once.ts';

/** Calls that are given up, twice in a run, and the waits that no scenario asks for. */
const beyondMs = 2_400_000;
const mostBytes = 16_000_000;
const mostHeapBytes = 2 ** 30;

const endsInTime = ({ tookMs }: Played, scenario: Scenario): boolean => {
  const { watch } = scenario;
  return (
    tookMs <=
    watch.warmup + watch.horizon + watch.overlap + watch.patience + watch.converge + beyondMs
  );
};

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

const lossAddsUp = ({ loss, lost, images }: Verdict): boolean => {
  if (loss === null || lost === null) return loss === lost;
  const epochs = Object.values(loss);
  const byImage = images.map((image) => image.lost ?? 0);
  return (
    lost === sum(epochs.map((epoch) => epoch.lost)) &&
    [...epochs, ...images].every(
      ({ lost: each, acked }) => each === null || (each >= 0 && each <= acked),
    ) &&
    // The worst of the images in each epoch: at least that of one image, at most of all together.
    lost >= Math.max(0, ...byImage) &&
    lost <= sum(byImage)
  );
};

const exposureIsOneWindow = ({ exposure: { ms, fromS, toS } }: Verdict): boolean =>
  ms >= 0 && (fromS === undefined) === (toS === undefined) && (fromS ?? 0) <= (toS ?? 0);

const rules: Readonly<Record<string, (played: Played, scenario: Scenario) => boolean>> = {
  'it ends in time': endsInTime,
  'its history stays small': ({ historyBytes }) => historyBytes <= mostBytes,
  'so does its memory': () => process.memoryUsage().heapUsed <= mostHeapBytes,
  'the verdict has its shape': ({ verdict }) => verdictSchema.safeParse(verdict).success,
  'safe: nobody wrote together': ({ verdict }) =>
    verdict.safety !== 'safe' || verdict.exposure.ms === 0,
  'safe: nothing is lost, as far as that is known': ({ verdict }) =>
    verdict.safety !== 'safe' || verdict.lost === 0 || (verdict.lost === null && !verdict.complete),
  'complete: no reason why not': ({ verdict }) =>
    verdict.complete === (verdict.incompleteBecause.length === 0),
  'the word follows': ({ verdict }) =>
    verdict.verdict === verdictWord(verdict.safety, verdict.complete),
  'as expected: the word was, and so was who serves': ({ verdict }) =>
    (verdict.asExpected || verdict.open === true) ===
    (verdict.expected.includes(verdict.verdict) && verdict.serving.asExpected),
  'open: nothing was expected, and a verdict came': ({ verdict }, scenario) =>
    (verdict.open === true) ===
    (isOpen(scenario) &&
      verdict.verdict !== 'inconclusive' &&
      verdict.expected.includes(verdict.verdict) &&
      verdict.serving.asExpected),
  'harm is noticed or not, and nothing else': ({ verdict }) =>
    (verdict.noticed === null) === (verdict.safety === 'safe'),
  'losses add up': ({ verdict }) => lossAddsUp(verdict),
  'safe: it is served as expected': ({ verdict }) =>
    verdict.verdict !== 'safe' || verdict.serving.asExpected,
  'the exposure has a beginning and an end': ({ verdict }) => exposureIsOneWindow(verdict),
  'a mount that came is told': ({ verdict: { sentence, phases } }) =>
    /no second mount|never came/i.test(sentence) === (phases.secondMount === null),
};

/** Names of the rules that this run breaks. */
export const brokenRules = (played: Played, scenario: Scenario): string[] =>
  Object.entries(rules).flatMap(([name, holds]) => (holds(played, scenario) ? [] : [name]));
