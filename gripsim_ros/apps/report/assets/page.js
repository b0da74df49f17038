'use strict';
// Fills the page from the data: chooses a grasp, moves the hand, shows numbers.

const byId = (id) => document.getElementById(id);
const viewer = new Viewer(byId('canvas'));
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
const state = { grasp: 0, row: 1, motion: null, exaggeration: 1, forces: true,
  boxes: false, playing: null };

let data, object;

async function load() {
  const packed = new Blob([decode(byId('data').textContent, Uint8Array)]).stream();
  data = await new Response(packed.pipeThrough(new DecompressionStream('deflate'))).json();
  object = {
    vertices: decode(data.object.vertices, Float32Array),
    faces: decode(data.object.faces, Uint32Array),
    origins: decode(data.object.origins, Uint32Array),
    weights: decode(data.object.weights, Float32Array),
  };
  start();
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function row(cells, numeric) {
  const made = element('tr');
  cells.forEach((cell, k) => {
    const box = element('td', typeof cell === 'string' ? cell : undefined,
      numeric.includes(k) ? 'number' : '');
    if (typeof cell !== 'string') box.append(cell);
    made.append(box);
  });
  return made;
}

function colourOf(share) {
  const { stops, colours } = data.ramp;
  let k = 1;
  while (k < stops.length - 1 && share > stops[k]) k++;
  const t = Math.max(0, Math.min(1, (share - stops[k - 1]) / (stops[k] - stops[k - 1])));
  return colours[k].map((c, j) => colours[k - 1][j] + t * (c - colours[k - 1][j]));
}

// The deformed object of a grasp: the closing's last row only, before that it is at rest.
function putObject(grasp, closed) {
  const moves = decode(grasp.displacements, Int16Array);
  const pressures = decode(grasp.pressures, Uint16Array);
  const vertices = object.vertices.slice();
  const scale = closed ? state.exaggeration * grasp.displacement_step : 0;
  for (let i = 0; i < vertices.length; i++) vertices[i] += scale * moves[i];
  const rest = colourOf(0);
  viewer.put('object', expandParts(vertices, object.faces, object, (corner, face, w) => {
    if (!closed) return rest;
    let share = 0;
    for (let k = 0; k < 3; k++) share += w[k] * pressures[object.faces[3 * face + k]] / 65535;
    return colourOf(Math.max(share, spotShare(grasp, face, w)));
  }));
}

// Pressure of contacts that are smaller than the mesh, from their area and peak.
function spotShare(grasp, face, w) {
  let p = [0, 0, 0];
  for (let k = 0; k < 3; k++) {
    const v = 3 * object.faces[3 * face + k];
    p = addScaled(p, object.vertices.subarray(v, v + 3), w[k]);
  }
  let share = 0;
  for (const spot of grasp.spots) {
    const away = sub(p, spot.centre);
    const squared = dot(away, away) / (spot.radius * spot.radius);
    if (squared < 1) share = Math.max(share, spot.share * Math.sqrt(1 - squared));
  }
  return share;
}

function putGlyphs(grasp) {
  const { extent, colours } = data;
  const largest = Math.max(...grasp.contacts.map((contact) => norm(contact.force)), 1e-12);
  const parts = [];
  for (const contact of grasp.contacts) {
    const radius = Math.sqrt(contact.area / Math.PI);
    if (radius > 0) {
      parts.push(ringAbout(contact.point, contact.normal, radius, 0.004 * extent, colours.ring));
    }
    if (norm(contact.force) > 1e-3 * largest) {
      const tail = addScaled(contact.point, contact.force, -0.45 * extent / largest);
      parts.push(arrow(tail, contact.point, 0.012 * extent, colours.force));
    }
  }
  viewer.put('forces', joined(parts));
  for (const [name, thickness] of [['boxes', 0.002], ['regions', 0.005]]) {
    viewer.put(name, frames(decode(grasp.boxes[name], Float32Array), thickness * extent,
      colours[name]));
  }
  viewer.put('centres', joined([
    ball(data.centre_of_mass, 0.012 * extent, colours.centre_before),
    ball(grasp.centre_of_mass, 0.018 * extent, colours.centre)]));
}

// A moment of the whole motion: the object as it is untouched, where it is then.
function placeMotion(grasp) {
  const { phases, poses, arm, object: moved, forces } = grasp.motion;
  const links = data.links.length;
  const at = Math.round(state.motion * (phases.length - 1));
  const hand = decode(poses, Float32Array);
  const T = decode(moved, Float32Array).subarray(16 * at, 16 * at + 16);
  viewer.glass = data.links.map((link, k) => {
    const start = 16 * (at * links + k);
    return [`link ${link.mesh} ${link.colour}`, hand.subarray(start, start + 16)];
  });
  if (arm) {
    const parts = data.arm.parts.length;
    const placed = decode(arm, Float32Array);
    data.arm.parts.forEach((_, k) => {
      const start = 16 * (at * parts + k);
      viewer.glass.push([`arm ${k}`, placed.subarray(start, start + 16)]);
    });
  }
  data.surroundings.forEach((_, k) => viewer.glass.push([`standing ${k}`, IDENTITY]));
  if (state.drawn !== `${state.grasp} false`) {
    state.drawn = `${state.grasp} false`;
    putObject(grasp, false);
  }
  const { extent, colours } = data;
  const all = forces.flat().map(([, force]) => norm(force));
  const largest = Math.max(...all, 1e-12);
  viewer.put('motion', joined(forces[at].filter(([, force]) => norm(force) > 1e-3 * largest)
    .map(([point, force]) => arrow(addScaled(point, force, -0.45 * extent / largest), point,
      0.012 * extent, colours.force))));
  viewer.solids = [['object', T], ...(state.forces ? [['motion', IDENTITY]] : [])];
  viewer.marks = [];
  byId('phase').textContent = phases[at];
  viewer.draw();
}

function place() {
  const grasp = data.grasps[state.grasp];
  if (state.motion !== null) { placeMotion(grasp); return; }
  byId('phase').textContent = '';
  const poses = decode(grasp.poses, Float32Array);
  const links = data.links.length;
  const rows = poses.length / (16 * links);
  const at = Math.round(state.row * (rows - 1));
  const closed = at === rows - 1;
  viewer.glass = data.links.map((link, k) => {
    const start = 16 * (at * links + k);
    return [`link ${link.mesh} ${link.colour}`, poses.subarray(start, start + 16)];
  });
  data.surroundings.forEach((_, k) => viewer.glass.push([`standing ${k}`, IDENTITY]));
  viewer.solids = [['object', IDENTITY]];
  viewer.marks = [];
  if (state.forces && closed) {
    viewer.solids.push(['forces', IDENTITY]);
    viewer.marks.push(['centres', IDENTITY]);
  }
  if (state.boxes && closed) {
    viewer.solids.push(['boxes', IDENTITY], ['regions', IDENTITY]);
  }
  if (state.drawn !== `${state.grasp} ${closed} ${state.exaggeration}`) {
    state.drawn = `${state.grasp} ${closed} ${state.exaggeration}`;
    putObject(grasp, closed);
  }
  viewer.draw();
}

function showNumbers(grasp) {
  byId('chosen').textContent = `Grasp ${grasp.rank}`;
  byId('summary').textContent = grasp.summary;
  byId('warnings').replaceChildren(...grasp.warnings.map((text) => element('p', text, 'warning')));
  byId('terms').replaceChildren(...grasp.terms.map((term, k) => {
    const bar = element('div', undefined, 'bar');
    const piece = element('span');
    piece.style.width = `${100 * term.share}%`;
    piece.style.background = data.term_colours[k % data.term_colours.length];
    bar.append(piece);
    bar.title = `weight ${term.weight}`;
    return row([term.name, term.value, term.contribution, bar], [1, 2]);
  }));
  byId('contacts').replaceChildren(...grasp.contacts.map((contact) =>
    row(contact.cells, [1, 2, 3, 4, 5, 6])));
  byId('peak').textContent = grasp.peak;
}

function choose(index) {
  state.grasp = index;
  const grasp = data.grasps[index];
  document.querySelectorAll('#grasps tbody tr').forEach((line, k) =>
    line.classList.toggle('chosen', k === index));
  byId('choice').value = String(index);
  showNumbers(grasp);
  if (!viewer.gl) return;
  aimAt(grasp.view);
  viewer.turn = grasp.view.turn.slice();
  putGlyphs(grasp);
  stopPlaying();
  state.motion = null;
  document.querySelectorAll('.motion').forEach((part) => { part.hidden = !grasp.motion; });
  place();
}

function stopPlaying() {
  clearInterval(state.playing);
  state.playing = null;
}

// Lets a slider run from 0 to 1; a second click stops it, and so does who moves a slider.
function play(name, step, show) {
  if (state.playing) { stopPlaying(); return; }
  let share = 0;
  state.playing = setInterval(() => {
    share = Math.min(1, share + step);
    byId(name).value = share;
    show(share);
    if (share >= 1) stopPlaying();
  }, 40);
}

// Looks at a grasp or its whole motion; an arm is seen from its own side.
function aimAt(view) {
  const { up, across } = view.up ? view : data.grasps[state.grasp].view;
  viewer.aim(view.centre, view.radius, up, across);
}

const showRow = (share) => {
  const { view, motion } = data.grasps[state.grasp];
  if (state.motion !== null) {
    aimAt(view);
    if (motion.turn) viewer.turn = view.turn.slice();
  }
  state.row = share;
  state.motion = null;
  place();
};
const showMotion = (share) => {
  const { motion } = data.grasps[state.grasp];
  if (state.motion === null) {
    aimAt(motion);
    if (motion.turn) viewer.turn = motion.turn.slice();
  }
  state.motion = share;
  place();
};

function start() {
  document.querySelectorAll('#grasps tbody tr').forEach((line, k) =>
    line.addEventListener('click', () => choose(k)));
  byId('choice').addEventListener('change', (event) => choose(Number(event.target.value)));
  if (!viewer.gl) { byId('canvas').remove(); byId('legend').remove(); byId('controls').remove(); } else {
    byId('still').remove();
    for (const [key, mesh] of data.meshes.entries()) {
      const vertices = decode(mesh.vertices, Float32Array);
      const faces = decode(mesh.faces, Uint32Array);
      const wanted = new Set(data.links.filter((l) => l.mesh === key).map((l) => l.colour));
      for (const colour of wanted) {
        viewer.put(`link ${key} ${colour}`,
          expand(vertices, faces, data.link_colours[colour]));
      }
    }
    for (const [key, mesh] of (data.arm ? data.arm.parts : []).entries()) {
      viewer.put(`arm ${key}`, expand(decode(mesh.vertices, Float32Array),
        decode(mesh.faces, Uint32Array), data.arm.colour));
    }
    for (const [key, mesh] of data.surroundings.entries()) {
      viewer.put(`standing ${key}`, expand(decode(mesh.vertices, Float32Array),
        decode(mesh.faces, Uint32Array), mesh.colour));
    }
    byId('opacity').addEventListener('input', (event) => {
      viewer.opacity = Number(event.target.value); viewer.draw();
    });
    [['row', showRow], ['motion', showMotion]].forEach(([name, show]) =>
      byId(name).addEventListener('input', (event) => {
        stopPlaying();
        show(Number(event.target.value));
      }));
    byId('exaggeration').addEventListener('input', (event) => {
      state.exaggeration = Number(event.target.value);
      byId('factor').textContent = `× ${state.exaggeration}`;
      place();
    });
    byId('forces').addEventListener('change', (event) => {
      state.forces = event.target.checked; place();
    });
    byId('boxes').addEventListener('change', (event) => {
      state.boxes = event.target.checked; place();
    });
    byId('play').addEventListener('click', () => play('row', 0.02, showRow));
    byId('play_motion').addEventListener('click', () => play('motion', 0.01, showMotion));
  }
  choose(0);
}

load();
