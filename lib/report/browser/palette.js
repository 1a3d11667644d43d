/** Colours of the time axis on light and on dark ground. */

export const palettes = {
  light: {
    text: '#1f2933',
    faint: '#7b8794',
    line: '#d9dee4',
    tones: {
      good: '#5aa469',
      busy: '#4f83c4',
      warn: '#e0a030',
      bad: '#cf4b43',
      neutral: '#aab4bf',
      action: '#8a63b8',
    },
    lines: ['#2f6db5', '#d9822b', '#3d8b5f', '#8a63b8', '#b3404a', '#5b6770'],
    barText: '#10171e',
  },
  dark: {
    text: '#e4e9ee',
    faint: '#8d99a6',
    line: '#333c46',
    tones: {
      good: '#4b9a63',
      busy: '#4a7fc0',
      warn: '#c98a22',
      bad: '#d65a50',
      neutral: '#56616d',
      action: '#9a76cc',
    },
    lines: ['#6aa5ea', '#eaa04f', '#63b98a', '#b08fe0', '#e0757d', '#9aa7b4'],
    barText: '#ffffff',
  },
};

/** @typedef {typeof palettes.light} Palette */
