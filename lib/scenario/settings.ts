/** Some fields of a scenario, as they are recorded, and what becomes of them under others. */
import { goesWith, settableNames, type SettableName } from './written-paths.ts';
import type { ScenarioInput } from './scenario-record.ts';

/** Fields of a scenario, in milliseconds where they are times. */
export type Settings = Readonly<Partial<Pick<ScenarioInput, SettableName>>>;

/** `over` wins; where it names another kind, what only the kind before it had goes with that. */
export function settingsUnder(base: Settings, over: Settings): Settings {
  const gone = new Set<string>(settableNames.filter((name) => !goesWith(name, over)));
  const kept = Object.entries(base).filter(([name]) => !gone.has(name));
  return { ...Object.fromEntries(kept), ...over };
}
