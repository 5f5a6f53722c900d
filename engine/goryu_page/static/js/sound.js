// The sound of a piece on the board, made from noise: no file, nothing to license.

let context = null;

/** Plays the sound. Browsers allow it only after the user has clicked something. */
export function clack() {
  context ??= new AudioContext();
  const length = 0.07;
  const buffer = context.createBuffer(1, context.sampleRate * length, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let at = 0; at < samples.length; at++) {
    const time = at / context.sampleRate;
    samples[at] = (Math.random() * 2 - 1) * Math.exp(-time * 90) * 0.5 + Math.sin(time * 6000) * Math.exp(-time * 120) * 0.5;
  }
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  source.start();
}
