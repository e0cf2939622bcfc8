import Persist
import PersistPostgreSQL

/// Attributes whose values a mapping model computes.
extension ExpansionPlanner {
  static let notComputed = RefusalReason(
    "The server can't compute exactly what the mapping model's expression computes.",
    "Leave the attribute out of the mapping model, and let programs compute its values")
  static let noWayBack = RefusalReason(
    "The old model's value can't be found from the new model's.",
    "Add a mapping model from the new version to the old one")

  /// Plans the columns that both mapping models, or one of them, compute.
  mutating func planFormulas(_ mappings: (forward: MappingModel?, backward: MappingModel?)) {
    guard mappings.forward != nil || mappings.backward != nil else { return }
    let models = (forward.map.model, forward.planned.model)
    let there = mappings.forward.map { MappedAttributes($0, from: models.0, to: models.1) }
    let back = mappings.backward.map { MappedAttributes($0, from: models.1, to: models.0) }
    for refusal in (there?.refusals ?? []) + (back?.refusals ?? []) {
      refuse(refusal.entity, refusal.property, because: RefusalReason(refusal.reason, fix: refusal.fix))
    }
    guard (there?.refusals ?? []).isEmpty, (back?.refusals ?? []).isEmpty else { return }
    for value in there?.values ?? [] { add(value, .second) }
    for value in back?.values ?? [] { add(value, .first) }
    for value in there?.values ?? [] { returnValue(value) }
    requireWayBack(there?.values ?? [])
  }

  /// The column of an attribute; nil for one that has none or several.
  private func column(_ name: String, of entity: Entity, _ map: TableMap) -> TableMap.Column? {
    guard let property = entity.property(named: name) else { return nil }
    return map[entity].columns.first { column in
      if case .attribute = column.role { column.slot == property.slot } else { false }
    }
  }

  private mutating func add(_ value: MappedAttributes.Value, _ side: OnlineExpansion.Side) {
    let (own, other) = side == .second ? (forward.planned, forward.map) : (forward.map, forward.planned)
    let table = own[value.entity].table
    // Renamed tables are handled before; here both models must already use the same table.
    guard table == other[value.source].table else { return }
    guard let column = column(value.attribute.name, of: value.entity, own) else {
      return refuse(value.entity.name, value.attribute.name, because: Self.notComputed)
    }
    var sources: [String: OnlineExpansion.Formula.Source] = [:]
    for name in value.expression.sourceNames {
      guard let source = self.column(name, of: value.source, other) else { continue }
      sources[name] = .init(column: source.name, type: source.type)
    }
    let standard = value.attribute.isOptional ? .null : SQLValue(value.attribute.defaultValue, of: value.attribute)
    let formula = OnlineExpansion.Formula(
      side, table: table, column: .init(name: column.name, type: column.type), numbers: [own[value.entity].number],
      expression: value.expression, sources: sources, standard: standard ?? .null,
      isSingle: value.attribute.type == .float, label: "\(value.entity.name).\(value.attribute.name)")
    guard let formula else { return refuse(value.entity.name, value.attribute.name, because: Self.notComputed) }
    expansion.formulas.append(formula)
  }

  /// Adds the way back of an attribute that only has another name, unless there is one.
  private mutating func returnValue(_ value: MappedAttributes.Value) {
    guard let keys = value.expression.sourceKeys, keys.count == 1, let old = value.source.attribute(named: keys[0]),
      old.type == value.attribute.type,
      successor(of: keys[0], in: value.entity) == nil,
      !isComputed(keys[0], of: value.source)
    else { return }
    add(
      .init(
        source: value.entity, entity: value.source, attribute: old,
        expression: .path(of: .variable("source"), [value.attribute.name])), .first)
  }

  /// The new attribute with the values of an old one, according to the models; nil if there is none.
  private func successor(of name: String, in entity: Entity) -> String? {
    entity.attributes.map(\.name).first { forward.correspondence.origin(of: $0, in: entity.name)?.source == name }
  }

  private func isComputed(_ name: String, of old: Entity) -> Bool {
    guard let column = column(name, of: old, forward.map) else { return false }
    return expansion.formulas.contains { formula in
      formula.side == .first && formula.table == forward.map[old].table && formula.column.name == column.name
        && formula.numbers.contains(forward.map[old].number)
    }
  }

  /// Refuses formulas over attributes that the new model doesn't have in the same form, and that nothing computes from
  /// it.
  private mutating func requireWayBack(_ values: [MappedAttributes.Value]) {
    for value in values {
      // An attribute that gets other values under its own name has lost the old ones.
      let origin = forward.correspondence.origin(of: value.attribute.name, in: value.entity.name)?.source
      let names = value.expression.sourceNames.filter { name in
        let new = successor(of: name, in: value.entity)
        return new == nil || values.contains { $0.entity === value.entity && $0.attribute.name == new }
      }
      for name in names.union([origin].compactMap { $0 }) where !isComputed(name, of: value.source) {
        refuse(value.entity.name, value.attribute.name, because: Self.noWayBack)
      }
    }
  }

  /// Whether a formula computes an attribute of an entity of one of the models.
  func isComputed(_ name: String, of entity: Entity, _ side: OnlineExpansion.Side) -> Bool {
    expansion.formulas.contains { $0.side == side && $0.label == "\(entity.name).\(name)" }
  }

  /// Whether a formula computes a column.
  func isFormula(_ column: String, in table: String, _ side: OnlineExpansion.Side) -> Bool {
    expansion.formulas.contains { $0.side == side && $0.table == table && $0.column.name == column }
  }
}
