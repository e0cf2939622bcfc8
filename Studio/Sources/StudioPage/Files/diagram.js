import {h, fill, button, icon, failure, announce} from './dom.js';
import {get, picture, address} from './api.js';
import {store} from './model.js';

const [leastScale, greatestScale] = [0.05, 4];
/** The least scale at which texts can be read. */
const readableScale = 0.6;
/** How far an arrow key moves the picture, in points. */
const step = 60;

/** The model as a picture, or the differences of two versions. */
export class DiagramView {
  constructor(main, place) {
    this.title = 'Model';
    this.scale = 1;
    this.pointers = new Map();
    this.canvas = h('div', {class: 'canvas', tabindex: '0', 'aria-label': 'Diagram of the model', 'aria-describedby': 'diagram-help', role: 'region',
      keydown: event => this.keys(event), pointerdown: event => this.press(event), pointermove: event => this.move(event),
      pointerup: event => this.release(event), pointercancel: event => this.release(event)});
    // Trackpads report pinches as turns of the wheel with this key.
    this.canvas.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(this.scale * Math.exp(-event.deltaY / 300), event);
    }, {passive: false});
    this.controls = h('div', {class: 'tools'});
    this.result = h('span', {class: 'muted', role: 'status'});
    this.percentage = h('button', {type: 'button', class: 'button percentage', title: 'Natural size (1)', click: () => this.zoom(1)}, '100 %');
    this.search = h('input', {type: 'search', class: 'filter', placeholder: 'Find in the diagram', 'aria-label': 'Find in the diagram',
      input: () => this.find(), keydown: event => { if (event.key === 'Enter') this.find(event.shiftKey ? -1 : 1); }});
    fill(main, h('div', {class: 'diagram-view'},
      h('header', {class: 'view-head'}, h('h2', {}, 'Model'), this.controls),
      h('div', {class: 'diagram-tools'}, this.search, this.result, h('span', {class: 'spacer'}),
        button('Zoom out', 'minus', () => this.zoom(this.scale / 1.25), {iconOnly: true, title: 'Zoom out (−)'}),
        this.percentage,
        button('Zoom in', 'plus', () => this.zoom(this.scale * 1.25), {iconOnly: true, title: 'Zoom in (+, or Control and the wheel)'}),
        button('Fit', 'fit', () => this.fit(), {title: 'Show the whole diagram (0)'})),
      h('p', {id: 'diagram-help', class: 'unseen'}, 'Arrow keys move the diagram. Plus and minus enlarge and reduce it, 0 shows all of it, 1 its natural size.'),
      this.canvas));
    this.start(place);
  }

  close() { this.isClosed = true; }

  async start(place) {
    this.versions = [];
    if (store.overview.hasModels) {
      try { this.versions = (await get('versions')).versions; } catch (error) { announce(error.message); }
    }
    // Another version may have been chosen in the meantime.
    if (!this.isClosed) this.update(this.place ?? place);
  }

  update(place) {
    this.place = place;
    const version = place.query.get('version') ?? 'store';
    const from = place.query.get('from');
    const parameters = {version, from};
    const select = (label, value, others, change) => h('label', {class: 'select'}, h('span', {class: 'muted'}, label),
      h('select', {change: event => change(event.target.value)}, others.map(([id, name]) => h('option', {value: id, selected: id === value}, name))));
    const names = [['store', 'The store\u2019s model'], ...(this.versions ?? []).map(version => [String(version.number), `${version.family}: ${version.name}${version.isCurrent ? ' (current)' : ''}`])];
    const go = (version, from) => { location.hash = `#/model?version=${version}${from !== '' && from !== null ? '&from=' + from : ''}`; };
    fill(this.controls,
      this.versions?.length > 0 && [
        select('Compare with', from ?? '', [['', 'Nothing'], ...names], value => go(version, value)),
        select('Show', version, names, value => go(value, from))],
      h('a', {class: 'button', href: address('diagram', {...parameters, download: ''}), download: ''}, icon('download'), 'SVG'));
    this.load(parameters);
    return true;
  }

  /** Of several answers the last counts. */
  async load(parameters) {
    const number = this.loads = (this.loads ?? 0) + 1;
    const isWanted = () => !this.isClosed && number === this.loads;
    // Nothing is found in a picture that isn't shown.
    this.drawing = null;
    fill(this.canvas, h('p', {class: 'muted loading-note'}, 'Drawing …'));
    try {
      const [drawing, style] = await Promise.all([picture('diagram', parameters), fetch('/api/diagram/style').then(answer => answer.text())]);
      if (isWanted()) this.show(drawing.documentElement, style);
    } catch (error) {
      if (isWanted()) fill(this.canvas, failure(error));
    }
  }

  /** Shows the picture in a tree of its own, so that its styles are its own; nothing in it can run. */
  show(drawing, style) {
    for (const element of drawing.querySelectorAll('style, script, foreignObject, a, image, use')) element.remove();
    for (const element of drawing.querySelectorAll('*')) {
      for (const {name} of [...element.attributes]) if (/^on|href|style/i.test(name)) element.removeAttribute(name);
    }
    const host = h('div', {class: 'drawing'});
    const root = host.attachShadow({mode: 'open'});
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style + ':host { display: inline-block } svg { display: block } .hit > .box { stroke: #0a7ea4; stroke-width: 3 }'
      + '.dim { opacity: .28 } svg { background: none } .sheet { fill: none } .box, .arrow { fill: var(--panel) } .head { fill: var(--sunken) }');
    root.adoptedStyleSheets = [sheet];
    root.append(document.importNode(drawing, true));
    this.drawing = root.querySelector('svg');
    this.size = {width: parseFloat(drawing.getAttribute('width')), height: parseFloat(drawing.getAttribute('height'))};
    fill(this.canvas, host);
    this.zoom(Math.max(readableScale, Math.min(1, this.fittingScale)));
    [this.canvas.scrollLeft, this.canvas.scrollTop] = [0, 0];
    this.find();
  }

  /** The scale at which all of the diagram is in view. */
  get fittingScale() { return Math.min(this.canvas.clientWidth / this.size.width, this.canvas.clientHeight / this.size.height); }

  fit() { if (this.size) this.zoom(Math.min(1, this.fittingScale)); }

  zoom(scale, point) {
    if (!this.drawing) return;
    const next = Math.max(leastScale, Math.min(greatestScale, scale));
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = point ? [point.clientX - bounds.left, point.clientY - bounds.top] : [bounds.width / 2, bounds.height / 2];
    const [left, top] = [(this.canvas.scrollLeft + x) / this.scale, (this.canvas.scrollTop + y) / this.scale];
    this.scale = next;
    this.drawing.setAttribute('width', this.size.width * next);
    this.drawing.setAttribute('height', this.size.height * next);
    this.canvas.scrollLeft = left * next - x;
    this.canvas.scrollTop = top * next - y;
    this.percentage.textContent = `${Math.round(next * 100)} %`;
  }

  // MARK: Pointers: one moves the picture, two enlarge or reduce it

  press(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, event);
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const before = pinch([...this.pointers.values()]);
    this.pointers.set(event.pointerId, event);
    const now = pinch([...this.pointers.values()]);
    this.canvas.scrollLeft -= now.clientX - before.clientX;
    this.canvas.scrollTop -= now.clientY - before.clientY;
    if (before.distance > 0 && now.distance > 0) this.zoom(this.scale * now.distance / before.distance, now);
  }

  release(event) { this.pointers.delete(event.pointerId); }

  // MARK: Keyboard

  keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]};
    if (event.key in moves) this.canvas.scrollBy(...moves[event.key]);
    else if (event.key === '+' || event.key === '=') this.zoom(this.scale * 1.25);
    else if (event.key === '-') this.zoom(this.scale / 1.25);
    else if (event.key === '0') this.fit();
    else if (event.key === '1') this.zoom(1);
    else return;
    event.preventDefault();
  }

  /** Marks the entities that contain the text, and brings one of them into view. */
  find(step = 0) {
    if (!this.drawing) return;
    const text = this.search.value.trim().toLowerCase();
    const boxes = [...this.drawing.querySelectorAll('g')].filter(group => group.querySelector(':scope > .box'));
    const hits = text ? boxes.filter(box => [...box.querySelectorAll('text')].some(line => line.textContent.toLowerCase().includes(text))) : [];
    for (const box of boxes) {
      box.classList.toggle('hit', hits.includes(box));
      box.classList.toggle('dim', text !== '' && !hits.includes(box));
    }
    this.result.textContent = text ? (hits.length ? `${hits.length} of ${boxes.length}` : 'none') : '';
    if (!hits.length) return;
    this.hit = ((this.hit ?? 0) + step + hits.length) % hits.length;
    if (step === 0) this.hit = 0;
    const box = hits[this.hit].getBoundingClientRect();
    const view = this.canvas.getBoundingClientRect();
    this.canvas.scrollLeft += box.left + box.width / 2 - view.left - view.width / 2;
    this.canvas.scrollTop += box.top + box.height / 2 - view.top - view.height / 2;
  }
}

/** The middle of pointers, and the distance between two of them. */
function pinch(pointers) {
  const [a, b = a] = pointers;
  return {
    clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2,
    distance: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
  };
}
