import {h, fill, icon, button, failure, grouped, bytes, duration, plural} from './dom.js';
import {get, post} from './api.js';
import {store} from './model.js';

/** The store's version, the way to another one, and a trial of it on a copy. */
export class MigrationView {
  constructor(main) {
    this.title = 'Migration';
    this.main = main;
    this.plan = h('div', {class: 'plan'});
    this.trial = h('div', {class: 'trial'});
    this.start();
  }

  close() { this.isClosed = true; clearTimeout(this.timer); }

  async start() {
    try {
      const versions = await get('versions');
      if (!this.isClosed) this.show(versions);
    } catch (error) { if (!this.isClosed) fill(this.main, failure(error)); }
  }

  show({versions, version, modelFrom, log}) {
    const origins = {registry: 'one of the given models', fingerprint: 'one of the given models', embedded: 'the store’s own model', columns: 'the model that its tables fit'};
    const stores = versions.find(other => other.isStores);
    const target = versions.find(other => other.isCurrent && other.family === stores?.family) ?? versions.find(other => other.isCurrent) ?? versions[0];
    fill(this.main, h('div', {class: 'page'},
      h('header', {class: 'view-head'}, h('h2', {}, 'Migration')),
      h('p', {}, 'The store has ', h('strong', {}, version ?? 'a version without a name'), `, ${origins[modelFrom] ?? modelFrom}.`),
      versions.length === 0
        ? h('p', {class: 'muted'}, 'No models were given. Start the studio with --models and the folder of the models to see where the store can go.')
        : h('section', {'aria-label': 'Versions'},
          h('ol', {class: 'versions'}, versions.map(other => h('li', {class: other.isStores ? 'stores' : null},
            h('label', {}, h('input', {type: 'radio', name: 'version', value: other.number, checked: other === target, change: () => this.showPlan(other)}),
              h('span', {class: 'version-name'}, other.name), h('span', {class: 'muted'}, other.family),
              other.isStores && h('span', {class: 'badge'}, 'the store'), other.isCurrent && h('span', {class: 'badge quiet'}, 'current'))))),
          this.plan, this.trial),
      h('section', {'aria-label': 'Log'}, h('h3', {}, 'Log'),
        log.length === 0 ? h('p', {class: 'muted'}, 'The store was never migrated by Persist.')
          : h('table', {class: 'table'}, h('thead', {}, h('tr', {}, heads('When', 'From', 'To', 'Way', '#Rows', '#Time'))),
            h('tbody', {}, log.map(entry => h('tr', {}, h('td', {}, entry.date.replace('T', ' ').replace('Z', '')), h('td', {}, entry.from), h('td', {}, entry.to),
              h('td', {}, entry.way), h('td', {class: 'numeric'}, grouped(entry.rows)), h('td', {class: 'numeric'}, duration(entry.seconds)))))))));
    if (target) this.showPlan(target);
  }

  async showPlan(version) {
    this.version = version;
    fill(this.plan, h('p', {class: 'muted'}, 'Planning …'));
    fill(this.trial);
    let plan;
    try { plan = await get('plan', {to: version.number}); } catch (error) {
      if (this.version === version) fill(this.plan, failure(error));
      return;
    }
    if (this.version !== version || this.isClosed) return;
    const isDone = plan.way === 'none' && plan.steps.length === 0;
    const ways = {none: 'nothing to do', inPlace: 'in place, in one transaction', copy: 'into a copy that then replaces the store', impossible: 'impossible'};
    fill(this.plan,
      h('h3', {}, `From ${plan.from} to ${plan.to}`),
      h('dl', {class: 'facts'},
        fact('Way', ways[plan.way] ?? plan.way), plan.rows !== undefined && fact('Rows', grouped(plan.rows)),
        plan.bytes !== undefined && fact('Size', bytes(plan.bytes)), plan.extraBytes !== undefined && fact('Extra disk', bytes(plan.extraBytes)),
        fact('Losses', plan.losses.length ? String(plan.losses.length) : 'none')),
      plan.blockers.map(blocker => h('div', {class: 'failure'}, h('p', {class: 'failure-message'}, place(blocker), blocker.what), blocker.fix && h('p', {class: 'failure-fix'}, blocker.fix))),
      plan.losses.length > 0 && h('table', {class: 'table losses'}, h('caption', {}, 'What is lost'),
        h('thead', {}, h('tr', {}, heads('Where', 'What', '#Rows'))),
        h('tbody', {}, plan.losses.map(loss => h('tr', {}, h('td', {}, [loss.entity, loss.property].filter(Boolean).join('.')), h('td', {}, loss.what), h('td', {class: 'numeric'}, grouped(loss.rows)))))),
      (plan.hops?.length ? plan.hops.map(hop => [hop, `${hop.from} → ${hop.to}`]) : [[plan, null]]).map(([hop, title]) => steps(hop, title)),
      plan.notes?.map(note => h('p', {class: 'muted'}, note)));
    if (isDone || !plan.isPossible) return;
    const allows = h('input', {type: 'checkbox', id: 'allows-loss'});
    fill(this.trial, h('h3', {}, 'Try it'), h('p', {class: 'muted'}, 'The store is copied to a temporary file, and the copy is migrated. The store itself doesn’t change.'),
      plan.losses.length > 0 && h('p', {}, allows, h('label', {for: 'allows-loss'}, ' Accept the losses')),
      this.runButton = button('Run on a copy', 'migration', () => this.run(allows.checked)), this.progress = h('div', {role: 'status'}));
  }

  async run(allowsLoss) {
    try {
      this.runButton.disabled = true;
      await post('trial/start', {to: this.version.number, allowsLoss});
      this.poll();
    } catch (error) {
      this.runButton.disabled = false;
      fill(this.progress, failure(error));
    }
  }

  async poll() {
    if (this.isClosed) return;
    const trial = await get('trial').catch(error => ({state: 'failed', message: error.message, fix: error.fix}));
    this.runButton.disabled = ['copying', 'migrating', 'comparing'].includes(trial.state);
    fill(this.progress, this.trialContent(trial));
    if (this.runButton.disabled) this.timer = setTimeout(() => this.poll(), 200);
  }

  trialContent(trial) {
    switch (trial.state) {
      case 'copying': return h('p', {}, h('progress', {'aria-label': 'Copying'}), ' copying the store');
      case 'migrating': return h('p', {}, h('progress', {max: '1', value: trial.fraction, 'aria-label': 'Migrating'}), ` ${Math.floor(trial.fraction * 100)} % ${trial.current}`,
        trial.secondsLeft !== null && `, ${plural(trial.secondsLeft, 'second')} left`, ' ', h('button', {type: 'button', class: 'value-link', click: () => post('trial/stop')}, 'Stop'));
      case 'comparing': return h('p', {}, h('progress', {max: String(Math.max(trial.total, 1)), value: trial.objects, 'aria-label': 'Comparing'}),
        ` comparing: ${grouped(trial.objects)} of ${plural(trial.total, 'object')} `, h('button', {type: 'button', class: 'value-link', click: () => post('trial/stop')}, 'Stop'));
      case 'failed': return failure(trial);
      case 'done': {
        const changed = trial.counts.filter(count => count.before !== count.after);
        const name = count => count.newEntity && count.newEntity !== count.entity ? `${count.entity} → ${count.newEntity}` : count.entity;
        return [h('p', {class: 'success'}, `The copy has ${trial.to}: ${plural(trial.rows ?? 0, 'row')} in ${duration(trial.seconds)}.`),
          h('p', {class: 'muted'}, 'The copy: ', h('code', {}, trial.path)),
          comparison(trial),
          h('table', {class: 'table'}, h('caption', {}, changed.length ? 'Objects before and after' : 'Every entity has as many objects as before'),
            h('thead', {}, h('tr', {}, heads('Entity', '#Before', '#After'))),
            h('tbody', {}, trial.counts.map(count => h('tr', {class: count.before !== count.after ? 'changed' : null}, h('td', {}, name(count)),
              h('td', {class: 'numeric'}, count.before === null ? '–' : grouped(count.before)), h('td', {class: 'numeric'}, count.after === null ? '–' : grouped(count.after))))))];
      }
      default: return null;
    }
  }
}

/** What became of every value that the migration keeps. */
function comparison(trial) {
  const {objects, values, isSame, isComputed, missing, differences} = trial.comparison;
  const what = `${plural(values, 'kept value')} of ${plural(objects, 'object')}`;
  if (isSame) return h('p', {class: 'success'}, `Compared ${what}: all are the same in the copy.`);
  return [h('p', {class: isComputed || trial.hasChanged ? 'advice' : 'failure'}, `Compared ${what}: not all are the same in the copy.`),
    isComputed && h('p', {class: 'muted'}, 'A mapping model or code of the application computes values, so that differences can be intended.'),
    trial.hasChanged && h('p', {class: 'muted'}, 'The store was changed after it had been copied, which shows as differences too.'),
    missing.length > 0 && h('table', {class: 'table'}, h('caption', {}, 'Objects that the copy lacks'),
      h('thead', {}, h('tr', {}, heads('Entity', '#Objects'))),
      h('tbody', {}, missing.map(part => h('tr', {class: 'changed'}, h('td', {}, part.entity), h('td', {class: 'numeric'}, grouped(part.count)))))),
    differences.length > 0 && h('table', {class: 'table comparison'}, h('caption', {}, 'Values that differ'),
      h('thead', {}, h('tr', {}, heads('Property', '#Same', '#Different', 'Examples'))),
      h('tbody', {}, differences.map(part => h('tr', {class: 'changed'},
        h('td', {}, `${part.entity}.${part.property}`, (part.newEntity !== part.entity || part.newProperty !== part.property) && ` → ${part.newEntity}.${part.newProperty}`),
        h('td', {class: 'numeric'}, grouped(part.equal)), h('td', {class: 'numeric'}, grouped(part.different)),
        h('td', {}, h('ul', {}, part.examples.map(example => h('li', {}, h('a', {href: `#/object/${encodeURIComponent(part.entity)}/${example.key}`}, example.key),
          ': ', h('span', {class: 'before'}, example.before ?? 'null'), ' → ', h('span', {class: 'after'}, example.after ?? 'null')))))))))];
}

/** The heads of a table; those of numbers begin with a hash. */
const heads = (...names) => names.map(name => h('th', {scope: 'col', class: name[0] === '#' ? 'numeric' : null}, name.replace('#', '')));
const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
const place = part => [part.entity, part.property].filter(Boolean).join('.') + (part.entity ? ': ' : '');
const words = name => name.replace(/([A-Z])/g, letter => ' ' + letter.toLowerCase());

function steps(plan, title) {
  if (!plan.steps.length) return null;
  return [title && h('h4', {}, title), h('ol', {class: 'steps'}, plan.steps.map(step => h('li', {},
    h('details', {}, h('summary', {},
      h('span', {class: 'step-name'}, words(step.operation)), ' ',
      h('code', {}, [step.entity, step.property].filter(Boolean).join('.') + (step.newName ? ` → ${step.newName}` : '')),
      step.detail && h('span', {class: 'muted'}, ` ${step.detail}`), step.losesData && h('span', {class: 'badge danger'}, 'loses data')),
      step.sql.length ? step.sql.map(line => h('pre', {class: 'sql'}, line)) : h('p', {class: 'muted'}, 'No SQL: only the model changes, or rows are rewritten as they are copied.'),
      (step.deferred ?? []).map(line => h('pre', {class: 'sql'}, line))))))];
}
