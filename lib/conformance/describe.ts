/** A comparison in plain text. */
import { differencesOf, leastChance, type Rarity, type RunComparison } from './judge.ts';

export function describeComparison(comparison: RunComparison): string {
  const { run, scenario, phases, pairs, realVerdict, modelVerdicts, modelRuns } = comparison;
  const verdicts = Object.entries(modelVerdicts).map(([word, count]) => `${word} ${count}`);
  const head = `${run} (${scenario}): ${realVerdict}; ${modelRuns} runs of the model: ${verdicts.join(', ')}`;
  const lines = phases.map(({ phase, realS, model, constant, fit }) => {
    const span = `${model.from.toFixed(2)}–${model.to.toFixed(2)}`.padStart(15);
    const kind = constant ? 'constant' : 'random';
    const mark = fit === 'fits' ? '' : fit;
    return `  ${phase.padEnd(34)}${realS.toFixed(2).padStart(9)} s  model ${span} s  ${kind.padEnd(9)}${mark}`;
  });
  const differences = differencesOf(comparison).map(({ says, because }) =>
    because === undefined ? `  NEW ${says}` : `  known: ${says} (${because})`,
  );
  const compared = comparison.starved
    ? '  its machine did not keep time: nothing but the verdict is compared'
    : `  ${pairs} pairs of steps: their orders`;
  return [head, ...lines.map((line) => line.trimEnd()), compared, ...differences].join('\n');
}

export function describeRarity({ random, rare, chance }: Rarity): string {
  const verdict = chance < leastChance ? 'too many to be chance' : 'no more than chance gives';
  return `${rare} of ${random} random phases lie outside of nine in ten runs of the model: ${verdict} (P = ${chance.toFixed(3)})`;
}
