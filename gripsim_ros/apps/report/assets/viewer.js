'use strict';
// Draws one grasp with WebGL 2: object opaque, hand as glass over it, centres of mass on top.

const VERTEX_SHADER = `#version 300 es
in vec3 position; in vec3 normal; in vec3 colour;
uniform mat4 toClip; uniform mat4 toEye; uniform mat4 model;
out vec3 n; out vec3 c; out vec3 eye;
void main() {
  vec4 world = model * vec4(position, 1.0);
  vec4 seen = toEye * world;
  n = mat3(toEye) * (mat3(model) * normal); c = colour; eye = seen.xyz;
  gl_Position = toClip * world;
}`;
const FRAGMENT_SHADER = `#version 300 es
precision highp float;
in vec3 n; in vec3 c; in vec3 eye; uniform float opacity; out vec4 result;
void main() {
  vec3 m = normalize(n);
  vec3 view = normalize(-eye);
  if (dot(m, view) < 0.0) m = -m;
  float light = 0.36 + 0.60 * max(dot(m, normalize(vec3(-0.4, 0.7, 0.6))), 0.0)
    + 0.22 * max(dot(m, normalize(vec3(0.8, 0.1, 0.5))), 0.0);
  float rim = pow(1.0 - max(dot(m, view), 0.0), 3.0);
  float gloss = 0.10 * pow(max(dot(m, view), 0.0), 40.0);
  result = vec4(min(c * light * (1.0 - 0.4 * rim) + gloss, 1.0), opacity);
}`;

class Viewer {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext('webgl2', { antialias: true, alpha: true, stencil: true,
      premultipliedAlpha: false, preserveDrawingBuffer: true });
    if (!this.gl) return;
    this.program = this.link();
    this.layers = {};
    this.turn = [0.6, 0.3];      // azimuth and elevation about the approach direction
    this.zoom = 1;
    this.shift = [0, 0];
    this.opacity = 0.65;
    this.listen();
  }

  link() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX_SHADER],
      [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) {
        throw new Error(gl.getShaderInfoLog(shader));
      }
      gl.attachShader(program, shader);
    }
    ['position', 'normal', 'colour'].forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    return program;
  }

  // Put triangles (position, normal, colour a corner) on the graphics card under a name.
  put(name, data) {
    const gl = this.gl;
    const layer = this.layers[name] || { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    gl.bindVertexArray(layer.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    for (let k = 0; k < 3; k++) {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 36, 12 * k);
    }
    layer.count = data.length / 9;
    this.layers[name] = layer;
  }

  // Look at a ball; up and across are directions in the world.
  aim(centre, radius, up, across) {
    this.centre = centre;
    this.radius = radius;
    this.up = unit(up);
    this.across = unit(addScaled(across, this.up, -dot(across, this.up)));
  }

  matrices() {
    const [azimuth, elevation] = this.turn;
    const other = cross(this.up, this.across);
    let back = addScaled([0, 0, 0], this.across, Math.cos(azimuth));
    back = addScaled(back, other, Math.sin(azimuth));
    const right = unit(cross(this.up, back));
    back = unit(addScaled(addScaled([0, 0, 0], back, Math.cos(elevation)), this.up,
      Math.sin(elevation)));
    const top = cross(back, right);
    const distance = 4.2 * this.radius / this.zoom;
    const eye = addScaled(this.centre, back, distance);
    const size = Math.min(this.canvas.width, this.canvas.height);
    const lens = 4.0;
    const near = 0.05 * distance;
    const far = distance + 20 * this.radius;
    const toEye = new Float32Array([
      ...right, -dot(right, eye) + this.shift[0], ...top, -dot(top, eye) + this.shift[1],
      ...back, -dot(back, eye), 0, 0, 0, 1]);
    const toScreen = new Float32Array([
      lens * size / this.canvas.width, 0, 0, 0, 0, lens * size / this.canvas.height, 0, 0,
      0, 0, -(far + near) / (far - near), -2 * far * near / (far - near), 0, 0, -1, 0]);
    return [multiply(toScreen, toEye), toEye];
  }

  draw() {
    if (!this.gl || this.waiting || !this.centre) return;     // nothing is aimed at yet
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const gl = this.gl;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.useProgram(this.program);
    const [toClip, toEye] = this.matrices();
    gl.uniformMatrix4fv(gl.getUniformLocation(this.program, 'toClip'), true, toClip);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.program, 'toEye'), true, toEye);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.enable(gl.STENCIL_TEST);      // marks the pixels where the object is seen
    gl.stencilFunc(gl.ALWAYS, 1, 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.REPLACE);
    this.drawLayers(this.solids || [], 1);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.KEEP);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (this.opacity > 0) {
      gl.colorMask(false, false, false, false);   // depth first: only the nearest surface shows
      this.drawLayers(this.glass || [], 1);
      gl.colorMask(true, true, true, true);
      gl.stencilFunc(gl.EQUAL, 1, 1);
      this.drawLayers(this.glass || [], this.opacity ** 3);
      gl.stencilFunc(gl.NOTEQUAL, 1, 1);
      this.drawLayers(this.glass || [], Math.min(1, 1.5 * this.opacity));
    }
    gl.disable(gl.STENCIL_TEST);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.drawLayers(this.marks || [], 0.9);
  }

  // Items are [name of a layer, pose by rows].
  drawLayers(items, opacity) {
    const gl = this.gl;
    gl.uniform1f(gl.getUniformLocation(this.program, 'opacity'), opacity);
    for (const [name, model] of items) {
      const layer = this.layers[name];
      if (!layer || !layer.count) continue;
      gl.uniformMatrix4fv(gl.getUniformLocation(this.program, 'model'), true, model);
      gl.bindVertexArray(layer.array);
      gl.drawArrays(gl.TRIANGLES, 0, layer.count);
    }
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', (event) => {
      if (!event.buttons) return;
      if (event.buttons === 1 && !event.shiftKey) {
        this.turn[0] -= 0.008 * event.movementX;
        this.turn[1] = Math.max(-1.5, Math.min(1.5, this.turn[1] + 0.008 * event.movementY));
      } else {
        const step = 2 * this.radius / canvas.clientHeight / this.zoom;
        this.shift[0] += step * event.movementX;
        this.shift[1] -= step * event.movementY;
      }
      this.draw();
    });
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom = Math.max(0.3, Math.min(15, this.zoom * Math.exp(-0.0012 * event.deltaY)));
      this.draw();
    }, { passive: false });
    canvas.addEventListener('dblclick', () => { this.zoom = 1; this.shift = [0, 0]; this.draw(); });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }
}
