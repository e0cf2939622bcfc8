import {h, s, fill, announce, grouped, button} from './dom.js';
import {post} from './api.js';
import {store, link, title} from './model.js';

const [nodeWidth, nodeHeight, columnGap, rowGap] = [176, 34, 96, 10];
const shownMembers = 8;

/** A picture of an object and those around it, which unfolds where it is asked to. */
export class Neighbours {
  constructor() {
    this.drawing = s('svg', {class: 'neighbours', role: 'group', 'aria-label': 'The object and those around it'});
    this.element = h('div', {class: 'neighbours-scroll'}, this.drawing);
  }

  start(object) {
    this.known = new Map();
    this.root = this.node(object);
    this.unfold(this.root, object);
    this.draw();
  }

  node(object) {
    return {entity: object.entity, key: object.key, name: title(object), groups: null};
  }

  id(node) { return `${node.entity}/${node.key}`; }

  /** Adds the objects that the object's relationships lead to. */
  unfold(node, object) {
    this.known.set(this.id(node), node);
    const groups = [
      ...object.relationships.map(relationship => ({label: relationship.name, members: relationship.members, total: relationship.total, isToMany: relationship.isToMany})),
      ...object.referrers.map(referrer => ({label: `${referrer.entity}.${referrer.name}`, members: referrer.members, total: referrer.total, isToMany: true})),
    ];
    node.groups = groups.filter(group => group.total > 0).map(group => ({
      ...group,
      nodes: group.members.slice(0, shownMembers).map(member => this.known.get(this.id(member)) ?? this.node(member)),
    }));
  }

  async toggle(node) {
    if (node.groups) {
      if (node !== this.root) { node.groups = null; this.known.delete(this.id(node)); }
    } else {
      try {
        this.unfold(node, await post('object', {entity: node.entity, key: node.key, naming: store.naming}));
      } catch (error) { return announce(error.message); }
    }
    this.draw();
    this.drawing.querySelector(`[data-id="${CSS.escape(this.id(node))}"] .unfold`)?.focus();
  }

  /** Places the nodes in columns by their distance from the object: each beside the first that leads to it. */
  layout() {
    const placed = new Map([[this.root, {depth: 0}]]);
    const links = [];
    const walk = (node, depth) => {
      const fresh = [];
      for (const group of node.groups ?? []) {
        for (const member of group.nodes) {
          if (!placed.has(member)) { placed.set(member, {depth: depth + 1}); fresh.push(member); links.push({from: node, to: member, label: group.label, isTree: true}); }
          else links.push({from: node, to: member, label: group.label, isTree: false});
        }
      }
      let height = 0;
      for (const child of fresh) height += walk(child, depth + 1) + rowGap;
      const own = Math.max(nodeHeight, height - rowGap);
      placed.get(node).height = own;
      placed.get(node).children = fresh;
      return own;
    };
    const whole = walk(this.root, 0);
    const place = (node, top) => {
      const spot = placed.get(node);
      spot.x = spot.depth * (nodeWidth + columnGap) + 8;
      spot.y = top + spot.height / 2 - nodeHeight / 2 + 8;
      let y = top;
      for (const child of spot.children) { place(child, y); y += placed.get(child).height + rowGap; }
    };
    place(this.root, 0);
    const depth = Math.max(...[...placed.values()].map(spot => spot.depth));
    return {placed, links, width: (depth + 1) * nodeWidth + depth * columnGap + 40, height: whole + 16};
  }

  draw() {
    const {placed, links, width, height} = this.layout();
    this.drawing.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.drawing.setAttribute('width', width);
    this.drawing.setAttribute('height', height);
    const seen = new Set();
    fill(this.drawing,
      links.map(({from, to, label, isTree}) => {
        const [a, b] = [placed.get(from), placed.get(to)];
        const pair = [this.id(from), this.id(to)].sort().join(' ');
        if (!isTree && (seen.has(pair) || from === to)) return null;
        seen.add(pair);
        const isForward = b.x > a.x;
        const [x1, x2] = isForward ? [a.x + nodeWidth, b.x] : [a.x + nodeWidth, b.x + nodeWidth];
        const [y1, y2] = [a.y + nodeHeight / 2, b.y + nodeHeight / 2];
        const bend = isForward ? (x1 + x2) / 2 : Math.max(x1, x2) + 30;
        return s('g', {class: isTree ? 'edge' : 'edge back'}, s('title', {}, `${from.name} – ${label} – ${to.name}`),
          s('path', {d: `M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`}),
          isTree && s('text', {x: x2 - 6, y: y2 - 4, class: 'edge-label'}, clip(label, 14)));
      }),
      [...placed].map(([node, spot]) => this.box(node, spot)));
  }

  box(node, spot) {
    const hidden = (node.groups ?? []).reduce((sum, group) => sum + group.total - group.nodes.length, 0);
    const isRoot = node === this.root;
    return s('g', {class: `node${isRoot ? ' root' : ''}`, transform: `translate(${spot.x} ${spot.y})`, 'data-id': this.id(node)},
      s('title', {}, `${node.name} (${node.entity} ${node.key})`),
      s('rect', {width: nodeWidth, height: nodeHeight, rx: 6}),
      s('a', {href: link(node)}, s('text', {x: 10, y: 14, class: 'node-name'}, clip(node.name, 22)), s('text', {x: 10, y: 27, class: 'node-entity'}, clip(`${node.entity} ${node.key}${hidden > 0 ? ` · ${grouped(hidden)} more` : ''}`, 30))),
      !isRoot && s('g', {class: 'unfold', role: 'button', tabindex: '0', 'aria-expanded': String(Boolean(node.groups)), 'aria-label': `${node.groups ? 'Fold' : 'Unfold'} ${node.name}`,
        click: () => this.toggle(node), keydown: event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); this.toggle(node); } }},
        s('circle', {cx: nodeWidth, cy: nodeHeight / 2, r: 8}), s('path', {d: `M${nodeWidth - 3.5} ${nodeHeight / 2}h7${node.groups ? '' : `M${nodeWidth} ${nodeHeight / 2 - 3.5}v7`}`})));
  }
}

const clip = (text, length) => text.length > length ? text.slice(0, length - 1) + '…' : text;
