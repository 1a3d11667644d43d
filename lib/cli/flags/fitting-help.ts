/** Help of what an experiment uses: flags of kinds that the command line does not choose are left out of it, and counted. */
import { Help, Option, type Command } from 'commander';
import { fields } from '../../experiment/fields.ts';
import { fieldNames } from '../../experiment/written-paths.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import type { Field } from '../../fields/field.ts';
import { isOfUse, valuesOf } from './field-options.ts';

const plain = new Help();

/** To a command that has the flags of `base`: it asks what else is chosen when the help is shown. */
export function helpOnlyWithFitting(command: Command, base: Scenario): void {
  let isAll = false;
  const all = new Option('--help-all');
  const unfit = (): readonly Option[] => {
    const flags = unfitFlags({ ...base, ...valuesOf(fields, command.opts()) });
    return command.options.filter((option) => flags.includes(option.flags));
  };
  command
    .addOption(all)
    .on('option:help-all', () => {
      isAll = true;
      command.help();
    })
    .configureHelp({
      visibleOptions: (asked) => {
        const left = isAll ? [] : unfit();
        return plain.visibleOptions(asked).filter((option) => !left.includes(option));
      },
      optionDescription: (option) =>
        option === all ? aboutOthers(unfit().length) : plain.optionDescription(option),
    });
}

/** Those that would do nothing in it. */
const unfitFlags = (scenario: Scenario): readonly string[] =>
  fieldNames
    .filter((name) => !isOfUse(name, scenario))
    .map((name) => (fields[name] as Field).flag?.flags ?? '');

const aboutOthers = (count: number): string =>
  `show ${count} more flags, of faults, remedies, disks, databases and fences that are not chosen here ` +
  '(--disk ack-early --help shows those of one choice)';
