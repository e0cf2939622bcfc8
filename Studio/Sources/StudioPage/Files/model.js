import {get} from './api.js';

/** The open store: its model, and the user's settings for it. */
export const store = {
  overview: null,
  counts: null,
  entities: new Map(),

  async load() {
    this.overview = await get('store');
    this.entities = new Map(this.overview.entities.map(entity => [entity.name, entity]));
  },

  async loadCounts() {
    this.counts = (await get('counts')).counts;
    return this.counts;
  },

  entity(name) { return this.entities.get(name); },

  children(name) { return this.overview.entities.filter(entity => entity.parent === name); },

  isKind(name, ancestor) {
    for (let entity = this.entity(name); entity; entity = this.entity(entity.parent)) {
      if (entity.name === ancestor) return true;
    }
    return false;
  },

  /** The number of objects of an entity and its subentities; null if it isn't known yet. */
  count(name) {
    if (!this.counts) return null;
    return (this.counts[name] ?? 0) + this.children(name).reduce((sum, child) => sum + this.count(child.name), 0);
  },

  property(entity, name) {
    return entity.attributes.find(attribute => attribute.name === name)
      ?? entity.relationships.find(relationship => relationship.name === name);
  },

  // MARK: Settings

  key(name) { return `persist-studio/${this.overview.identifier}/${name}`; },

  setting(name, otherwise) {
    try {
      const text = localStorage.getItem(this.key(name));
      return text === null ? otherwise : JSON.parse(text);
    } catch { return otherwise; }
  },

  set(name, value) {
    try { localStorage.setItem(this.key(name), JSON.stringify(value)); } catch { /* Settings are a convenience. */ }
  },

  /** The attributes that name objects, as far as the user has chosen them. */
  get naming() { return this.setting('naming', {}); },

  namingAttribute(entity) { return this.naming[entity.name] ?? entity.naming; },

  choose(entity, attribute) {
    const naming = this.naming;
    if (attribute === entity.naming) delete naming[entity.name];
    else naming[entity.name] = attribute;
    this.set('naming', naming);
  },
};

/** The columns of an entity in the user's order: name, width, and whether they are shown. */
export function columns(entity) {
  const all = [...entity.attributes, ...entity.relationships].filter(property => !property.isTransient);
  const naming = store.namingAttribute(entity);
  const rank = property => property.name === naming ? 0 : property.destination ? (property.isToMany ? 3 : 2) : 1;
  const usual = [...all].sort((a, b) => rank(a) - rank(b)).map((property, index) => ({
    name: property.name, property, width: width(property, property.name === naming), isShown: index < 24,
  }));
  const chosen = store.setting(`columns/${entity.name}`, null);
  if (!chosen) return usual;
  const places = new Map(chosen.map((column, index) => [column.name, index]));
  return usual
    .map(column => ({...column, ...(chosen[places.get(column.name)] ?? {}), property: column.property}))
    .sort((a, b) => (places.get(a.name) ?? Infinity) - (places.get(b.name) ?? Infinity) || 0);
}

export function keep(entity, list) {
  store.set(`columns/${entity.name}`, list.map(({name, width, isShown}) => ({name, width, isShown})));
}

function width(property, names) {
  const least = Math.min(220, 34 + property.name.length * 7.5 + (property.marks?.length ?? 0) * 16);
  if (names) return Math.max(220, least);
  if (property.destination) return Math.max(property.isToMany ? 84 : 150, least);
  const widths = {
    string: 190, date: 176, uuid: 316, boolean: 76, composite: 220, binary: 84, transformable: 100, decimal: 110, uri: 200,
  };
  return Math.max(widths[property.type] ?? 96, least);
}

/** Whether values are shown at the right, as numbers are. */
export function isNumeric(property) {
  return property.isToMany || ['int16', 'int32', 'int64', 'double', 'float', 'decimal'].includes(property.type);
}

/** An attribute's type, with what the model says about finding objects by it: `string?, unique, indexed`. */
export const fullType = attribute => [attribute.type + (attribute.isOptional ? '?' : ''), ...(attribute.marks ?? [])].join(', ');

/** A short word for the kind of a property. */
export function typeWord(property) {
  if (property.destination) return `${property.isToMany ? '⇉' : '→'} ${property.destination}${property.isOrdered ? ', in order' : ''}`;
  return [property.type, ...(property.marks ?? [])].join(', ');
}

export const link = object => `#/object/${encodeURIComponent(object.entity)}/${object.key}`;
export const rowsLink = (entity, query = '') =>
  `#/rows/${encodeURIComponent(entity)}${query ? '?q=' + encodeURIComponent(query) : ''}`;
export const title = object => object.name ?? `${object.entity} ${object.key}`;
