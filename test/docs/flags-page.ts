/** docs/reference/flags.md, made from the flags that every experiment takes. */
import type { Option } from 'commander';
import { optionGroups } from '../../lib/cli/flags/flags.ts';
import { parseScenario } from '../../lib/experiment/scenario.ts';

export const path = 'docs/reference/flags.md';

const plain = parseScenario({
  ...{ name: 'node-crash', question: '?', fault: 'node-crash', expected: ['safe'] },
});

const opening = `# Flags

Which flags are there, and what do they say where they are left away? All experiments take the same ones. The defaults are those of a plain run; an experiment may have others, and its \`--help\` shows them, with the flags that go with what the same line chooses; \`--help-all\` shows every one. Durations: \`30s\`, \`6m\`, \`500ms\`; a bare number is seconds. \`npx forcedetach run node-crash\` is \`npx zx experiments/node-crash.mjs\` by name, and \`npx forcedetach\` lists the other commands; the npm package has the same ones, and predicts only.

Every command and experiment also takes \`--help\` and \`--version\`. \`npx forcedetach completion bash\` (or \`zsh\`, \`fish\`) prints a script that completes commands, experiments, flags and their values. It completes the command \`forcedetach\`; \`alias forcedetach='npx forcedetach'\` makes one of a checkout. For bash: \`source <(npx forcedetach completion bash)\`.

The scenario's flags in full, and which go together: [scenarios](scenarios.md). Images: [where they come from](images.md). Versions: [which can be measured](kubernetes-versions.md). What a value may be: [what is read, and what is refused](inputs.md). This page is made from the flags themselves.
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
