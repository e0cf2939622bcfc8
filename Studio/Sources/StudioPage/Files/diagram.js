import {h, fill, icon, button, failure, announce} from './dom.js';
import {get, picture, address} from './api.js';
import {store} from './model.js';

/** The model as a picture, or the differences of two versions. */
export class DiagramView {
  constructor(main, place) {
    this.title = 'Model';
    this.scale = 1;
    this.canvas = h('div', {class: 'canvas', tabindex: '0', 'aria-label': 'Diagram of the model', role: 'region', keydown: event => this.keys(event)});
    this.canvas.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(this.scale * Math.exp(-event.deltaY / 300), event);
    }, {passive: false});
    this.canvas.addEventListener('pointerdown', event => this.drag(event));
    this.controls = h('div', {class: 'tools'});
    this.result = h('span', {class: 'muted', role: 'status'});
    this.search = h('input', {type: 'search', class: 'filter', placeholder: 'Find in the diagram', 'aria-label': 'Find in the diagram',
      input: () => this.find(), keydown: event => { if (event.key === 'Enter') this.find(event.shiftKey ? -1 : 1); }});
    fill(main, h('div', {class: 'diagram-view'},
      h('header', {class: 'view-head'}, h('h2', {}, 'Model'), this.controls),
      h('div', {class: 'diagram-tools'}, this.search, this.result, h('span', {class: 'spacer'}),
        button('Smaller', 'minus', () => this.zoom(this.scale / 1.25), {iconOnly: true}),
        button('Larger', 'plus', () => this.zoom(this.scale * 1.25), {iconOnly: true}),
        h('button', {type: 'button', class: 'button', click: () => this.fit()}, 'Fit')),
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
    const names = [['store', 'the store\u2019s model'], ...(this.versions ?? []).map(version => [String(version.number), `${version.family}: ${version.name}${version.isCurrent ? ' (current)' : ''}`])];
    const go = (version, from) => { location.hash = `#/model?version=${version}${from !== '' && from !== null ? '&from=' + from : ''}`; };
    fill(this.controls,
      this.versions?.length > 0 && [
        select('Compare with', from ?? '', [['', 'nothing'], ...names], value => go(version, value)),
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
      + '.dim { opacity: .28 }');
    root.adoptedStyleSheets = [sheet];
    root.append(document.importNode(drawing, true));
    this.drawing = root.querySelector('svg');
    this.size = {width: parseFloat(drawing.getAttribute('width')), height: parseFloat(drawing.getAttribute('height'))};
    fill(this.canvas, host);
    this.fit();
    this.find();
  }

  fit() {
    if (!this.size) return;
    const scale = Math.min(this.canvas.clientWidth / this.size.width, this.canvas.clientHeight / this.size.height);
    this.zoom(Math.max(0.25, Math.min(1, scale)));
  }

  zoom(scale, point) {
    if (!this.drawing) return;
    const next = Math.max(0.1, Math.min(4, scale));
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = point ? [point.clientX - bounds.left, point.clientY - bounds.top] : [bounds.width / 2, bounds.height / 2];
    const [left, top] = [(this.canvas.scrollLeft + x) / this.scale, (this.canvas.scrollTop + y) / this.scale];
    this.scale = next;
    this.drawing.setAttribute('width', this.size.width * next);
    this.drawing.setAttribute('height', this.size.height * next);
    this.canvas.scrollLeft = left * next - x;
    this.canvas.scrollTop = top * next - y;
  }

  drag(event) {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    const [x, y, left, top] = [event.clientX, event.clientY, this.canvas.scrollLeft, this.canvas.scrollTop];
    const move = event => {
      this.canvas.scrollLeft = left - event.clientX + x;
      this.canvas.scrollTop = top - event.clientY + y;
    };
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.addEventListener('pointermove', move);
    this.canvas.addEventListener('pointerup', () => this.canvas.removeEventListener('pointermove', move), {once: true});
  }

  keys(event) {
    if (event.key === '+' || event.key === '=') this.zoom(this.scale * 1.25);
    else if (event.key === '-') this.zoom(this.scale / 1.25);
    else if (event.key === '0') this.fit();
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
