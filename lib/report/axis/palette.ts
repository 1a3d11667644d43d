/** Colours of the time axis on light and on dark ground. */

/** How a bar is coloured: what it means for the volume, not which thing it is. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'neutral' | 'action';
/** Whose lane it is: the run's own, the node's that the fault hit, that of the node that came next … */
export type Role = 'run' | 'control-plane' | 'victim' | 'successor' | 'other';

export interface Palette {
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly tones: Readonly<Record<Tone, string>>;
  readonly roles: Readonly<Record<Role, string>>;
  readonly lines: readonly string[];
  readonly barText: string;
}

export const darkBarText = '#10171e';

export const palettes: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    text: '#1f2933',
    faint: '#66717d',
    line: '#d9dee4',
    tones: {
      good: '#5aa469',
      busy: '#4f83c4',
      warn: '#e0a030',
      bad: '#cf4b43',
      neutral: '#aab4bf',
      action: '#2b8f8a',
    },
    roles: {
      run: '#66717d',
      victim: '#8a53b5',
      successor: '#2f6db5',
      'control-plane': '#66717d',
      other: '#98a2ad',
    },
    lines: ['#3d8b5f', '#d9822b', '#b3404a', '#5b6770'],
    barText: '#ffffff',
  },
  dark: {
    text: '#e4e9ee',
    faint: '#9ba7b3',
    line: '#333c46',
    tones: {
      good: '#4b9a63',
      busy: '#4a7fc0',
      warn: '#c98a22',
      bad: '#d65a50',
      neutral: '#56616d',
      action: '#3aa7a1',
    },
    roles: {
      run: '#7b8794',
      victim: '#a678d3',
      successor: '#5c9ae0',
      'control-plane': '#7b8794',
      other: '#5d6874',
    },
    lines: ['#63b98a', '#eaa04f', '#e0757d', '#9aa7b4'],
    barText: darkBarText,
  },
};

/** A state that is as it should be has the colour of whose it is; what is amiss has its own. */
export const barColor = (tone: Tone, role: Role, palette: Palette): string =>
  tone === 'good' || tone === 'busy' || tone === 'neutral'
    ? palette.roles[role]
    : palette.tones[tone];
