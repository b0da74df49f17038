'use strict';
// Small vector mathematics and the triangles that the viewer draws. Matrices are by rows.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const addScaled = (a, b, s) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.sqrt(dot(a, a));
const unit = (a) => { const n = norm(a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };

function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Type(bytes.buffer);
}

function multiply(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * i + k] * b[4 * k + j];
      c[4 * i + j] = sum;
    }
  }
  return c;
}

// Normals of the triangles' corners, nine numbers a face; smooth up to a crease.
function cornerNormals(vertices, faces, cosCrease = 0.82) {
  const count = faces.length / 3;
  const areas = new Float32Array(3 * count);
  const units = new Float32Array(3 * count);
  const starts = new Uint32Array(vertices.length / 3 + 1);
  const point = (v) => [vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]];
  for (let f = 0; f < count; f++) {
    const a = point(faces[3 * f]);
    const n = cross(sub(point(faces[3 * f + 1]), a), sub(point(faces[3 * f + 2]), a));
    areas.set(n, 3 * f);
    units.set(unit(n), 3 * f);
    for (let k = 0; k < 3; k++) starts[faces[3 * f + k] + 1]++;
  }
  for (let v = 1; v < starts.length; v++) starts[v] += starts[v - 1];
  const around = new Uint32Array(faces.length);
  const next = starts.slice();
  for (let i = 0; i < faces.length; i++) around[next[faces[i]]++] = Math.floor(i / 3);
  const normals = new Float32Array(3 * faces.length);
  for (let i = 0; i < faces.length; i++) {
    const v = faces[i];
    const own = 3 * Math.floor(i / 3);
    let n = [0, 0, 0];
    for (let k = starts[v]; k < starts[v + 1]; k++) {
      const g = 3 * around[k];
      const cosine = units[g] * units[own] + units[g + 1] * units[own + 1]
        + units[g + 2] * units[own + 2];
      if (cosine >= cosCrease) n = addScaled(n, areas.subarray(g, g + 3), 1);
    }
    normals.set(unit(n), 3 * i);
  }
  return normals;
}

// Corners of the triangles one by one: position, normal, colour.
function expand(vertices, faces, colour) {
  const normals = cornerNormals(vertices, faces);
  const out = new Float32Array(9 * faces.length);
  for (let i = 0; i < faces.length; i++) {
    out.set(vertices.subarray(3 * faces[i], 3 * faces[i] + 3), 9 * i);
    out.set(normals.subarray(3 * i, 3 * i + 3), 9 * i + 3);
    out.set(colour, 9 * i + 6);
  }
  return out;
}

// The same for parts of triangles, given by their face and barycentric weights; colourOf gets
// the corner's number, its face's number and its weights.
function expandParts(vertices, faces, parts, colourOf) {
  const normals = cornerNormals(vertices, faces);
  const corners = parts.weights.length / 3;
  const out = new Float32Array(9 * corners);
  for (let i = 0; i < corners; i++) {
    const face = parts.origins[Math.floor(i / 3)];
    const w = parts.weights.subarray(3 * i, 3 * i + 3);
    let p = [0, 0, 0];
    let n = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      const v = 3 * faces[3 * face + k];
      p = addScaled(p, vertices.subarray(v, v + 3), w[k]);
      n = addScaled(n, normals.subarray(9 * face + 3 * k, 9 * face + 3 * k + 3), w[k]);
    }
    out.set(p, 9 * i);
    out.set(unit(n), 9 * i + 3);
    out.set(colourOf(i, face, w), 9 * i + 6);
  }
  return out;
}

// A profile of [radius, height] pairs turned about an axis.
function lathe(profile, origin, axis, colour, segments = 20) {
  const z = unit(axis);
  const x = unit(cross(z, Math.abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0]));
  const y = cross(z, x);
  const vertices = [];
  const faces = [];
  profile.forEach(([radius, height], ring) => {
    for (let j = 0; j < segments; j++) {
      const angle = 2 * Math.PI * j / segments;
      let p = addScaled(origin, z, height);
      p = addScaled(p, x, radius * Math.cos(angle));
      vertices.push(...addScaled(p, y, radius * Math.sin(angle)));
      if (ring + 1 < profile.length) {
        const a = ring * segments + j;
        const b = ring * segments + (j + 1) % segments;
        faces.push(a, b, b + segments, a, b + segments, a + segments);
      }
    }
  });
  return expand(Float32Array.from(vertices), Uint32Array.from(faces), colour);
}

function arrow(tail, tip, radius, colour) {
  const length = norm(sub(tip, tail));
  const neck = length - Math.min(5 * radius, 0.6 * length);
  return lathe([[0, 0], [radius, 0], [radius, neck], [2.2 * radius, neck], [0, length]],
    tail, sub(tip, tail), colour);
}

// The edges of boxes, given by eight corners each: such as differ in one coordinate of the box.
function frames(corners, radius, colour) {
  const parts = [];
  for (let at = 0; at < corners.length; at += 24) {
    for (let a = 0; a < 8; a++) {
      for (const b of [a ^ 1, a ^ 2, a ^ 4]) {
        const [from, to] = [a, b].map((k) => corners.subarray(at + 3 * k, at + 3 * k + 3));
        const length = norm(sub(to, from));
        if (b > a && length > 0) {
          parts.push(lathe([[radius, 0], [radius, length]], from, sub(to, from), colour, 6));
        }
      }
    }
  }
  return joined(parts);
}

function ball(centre, radius, colour) {
  const profile = [];
  for (let k = 0; k <= 10; k++) {
    profile.push([radius * Math.sin(Math.PI * k / 10), -radius * Math.cos(Math.PI * k / 10)]);
  }
  return lathe(profile, centre, [0, 0, 1], colour);
}

function ringAbout(centre, normal, radius, thickness, colour) {
  const profile = [];
  for (let k = 0; k <= 8; k++) {
    const angle = 2 * Math.PI * k / 8;
    profile.push([radius + thickness * Math.cos(angle), thickness * Math.sin(angle)]);
  }
  return lathe(profile, centre, normal, colour, 40);
}

function joined(parts) {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
