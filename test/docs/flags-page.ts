/** docs/reference/flags.md, made from the flags that every experiment takes. */
import type { Option } from 'commander';
import { optionGroups } from '../../lib/cli/flags/flags.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';

export const path = 'docs/reference/flags.md';

const plain = parseScenario({
  name: 'node-crash',
  question: '?',
  fault: { kind: 'node-crash' },
  expected: ['safe'],
});

const opening = `# Flags

Which flags are there, and what are their defaults? All experiments accept the same ones. An experiment may have other defaults: its \`--help\` shows them, with the flags for its kinds; \`--help-all\` shows all. Durations: \`30s\`, \`6m\`, \`500ms\`; a bare number is seconds. \`npx forcedetach run node-crash\` is the same as \`npx zx experiments/node-crash.mjs\`; \`npx forcedetach\` lists the other commands. The npm package has the same ones, and predicts only.

\`npx forcedetach completion bash\` (or \`zsh\`, \`fish\`) prints a completion script for the command \`forcedetach\`; in a checkout, set \`alias forcedetach='npx forcedetach'\`. For bash: \`source <(npx forcedetach completion bash)\`.

See also [scenarios](scenarios.md), [images](images.md), [versions](kubernetes-versions.md) and [limits of inputs](inputs.md). This page is made from the flags themselves.
`;

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

function row({
  flags,
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const shown = defaultValueDescription ?? (defaultValue === undefined ? '' : String(defaultValue));
  const choices = argChoices === undefined ? '' : `; one of ${argChoices.map(code).join(', ')}`;
  const cells = [code(flags), shown === '' ? '–' : code(shown), `${description}${choices}`];
  return `| ${cells.join(' | ')} |\n`;
}

export const renderedPage = (): string =>
  [
    opening,
    ...optionGroups(plain).map(
      ([title, options]) =>
        `## ${title}\n\n| Flag | Default | Meaning |\n| --- | --- | --- |\n${options.map(row).join('')}`,
    ),
  ].join('\n');
