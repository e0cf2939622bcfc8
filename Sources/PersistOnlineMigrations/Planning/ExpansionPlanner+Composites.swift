import Persist
import PersistPostgreSQL

/// Composite attributes, whose elements have columns of their own.
extension ExpansionPlanner {
  static let missingElement = RefusalReason(
    "Programs with one of the models may leave out an element that the other requires, and that has no default.",
    "Give the element a default, or make it optional in a version between the two")

  /// Plans the composite attributes of both models whose elements differ.
  mutating func planComposites() {
    for entity in forward.planned.model.entities {
      guard let source = forward.source(of: entity), forward.map[source].table == forward.planned[entity].table else {
        continue
      }
      for property in entity.properties where property.attribute?.type == .composite {
        guard let name = forward.correspondence.origin(of: property.name, in: entity.name)?.source,
          let old = source.property(named: name), old.attribute?.type == .composite
        else { continue }
        add(property, of: entity, from: old, of: source)
      }
    }
  }

  private mutating func add(_ new: Property, of entity: Entity, from old: Property, of source: Entity) {
    let declaring = new.declaringEntity
    if let reason = reason(against: old, new) { return refuse(declaring, new.name, because: reason) }
    let place = forward.planned[entity]
    func columns(_ property: Property, _ place: TableMap.EntityTable) -> [OnlineExpansion.Composite.Column] {
      property.elements.compactMap { place.column(slot: $0.slot) }.map { .init($0) }
    }
    let columns = (first: columns(old, forward.map[source]), second: columns(new, place))
    let required = Set(
      old.elements.filter { !$0.attribute.isOptional }.compactMap { forward.map[source].column(slot: $0.slot)?.name })
    guard let second = half(
        columns.second, beside: columns.first, by: flows.forward, back: flows.backward, in: place),
      let first = half(
        columns.first, beside: columns.second, by: flows.backward, back: flows.forward, in: place)?
        .returning(from: second, required: required)
    else { return refuse(declaring, new.name, because: Self.otherValues) }
    let composite = OnlineExpansion.Composite(
      table: place.table, numbers: [place.number], first: first, second: second,
      isAlwaysPresent: old.attribute?.isOptional == false && new.attribute?.isOptional == false,
      label: "\(declaring).\(new.name)")
    if composite.consistsOfCopies { return }
    guard isMutual(first, second) else { return refuse(declaring, new.name, because: Self.oneWay) }
    add(composite)
  }

  private mutating func add(_ composite: OnlineExpansion.Composite) {
    let present = Set((forward.map.layout[composite.table] ?? []).map(\.name.foldedIdentifier))
    for part in composite.second.parts {
      let name = part.column.name
      if present.contains(name.foldedIdentifier) {
        collide(.column(table: composite.table, rule: name))
      } else if !isComposite(name, in: composite.table, .second) {
        expansion.columns.append(
          .init(table: composite.table, column: .init(name: name, type: part.column.type), value: .null))
      }
    }
    // Subentities inherit the attribute.
    for index in expansion.composites.indices {
      var known = expansion.composites[index]
      let numbers = known.numbers
      known.numbers = composite.numbers
      guard known == composite else { continue }
      expansion.composites[index].numbers = (numbers + composite.numbers).sorted()
      return
    }
    expansion.composites.append(composite)
  }

  /// The columns of one model; nil if the values of one can't be expressed.
  ///
  /// - Parameters:
  ///   - own: Its columns.
  ///   - others: Those of the other model.
  ///   - flow: The way to the model.
  ///   - back: The way from it.
  private func half(
    _ own: [OnlineExpansion.Composite.Column], beside others: [OnlineExpansion.Composite.Column],
    by flow: ColumnFlow, back: ColumnFlow, in place: TableMap.EntityTable
  ) -> OnlineExpansion.Composite.Half? {
    let known = Dictionary(others.map { ($0.name.foldedIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
    var parts: [OnlineExpansion.Composite.Part] = []
    for column in own {
      guard let value = flow[place.table, column.name]?.value(for: place.number),
        value.columns.isSubset(of: known.keys)
      else { return nil }
      let isReturned = back[place.table, column.name]?.value(for: place.number).isOwn(column.name) == true
      if value.isOwn(column.name), known[column.name.foldedIdentifier]?.type == column.type, isReturned { continue }
      let counterpart = value.mainColumn.flatMap { known[$0.foldedIdentifier] }
      guard counterpart != nil || value.mainColumn == nil else { return nil }
      parts.append(.init(column: column, value: value, counterpart: counterpart))
    }
    return .init(columns: own, parts: parts)
  }

  /// Whether the elements that both models have get their values from each other.
  private func isMutual(_ first: OnlineExpansion.Composite.Half, _ second: OnlineExpansion.Composite.Half) -> Bool {
    func pairs(_ half: OnlineExpansion.Composite.Half) -> [[String]] {
      half.parts.compactMap { part in part.counterpart.map { [part.column.name, $0.name] } }
    }
    return Set(pairs(first)) == Set(pairs(second).map { $0.reversed() })
  }

  /// The reason for which elements can't be served; nil if they can.
  private func reason(against old: Property, _ new: Property) -> RefusalReason? {
    let former = new.formerElements(in: old)
    let kept = Set(former.values.map(\.slot))
    func isMissing(_ element: AttributeDescription, without other: AttributeDescription?) -> Bool {
      !element.isOptional && element.defaultValue.isNull && other?.isOptional != false
    }
    for element in new.elements {
      let before = former[element.slot]?.attribute
      if let before, let reason = Self.reason(against: before.type, element.attribute.type) { return reason }
      let isLeftOut = before.map { isMissing($0, without: element.attribute) } == true
      if isLeftOut || isMissing(element.attribute, without: before) { return Self.missingElement }
    }
    return old.elements.contains { !kept.contains($0.slot) && isMissing($0.attribute, without: nil) }
      ? Self.missingElement : nil
  }

  /// Whether a column belongs to a composite attribute whose elements differ.
  func isComposite(_ column: String, in table: String, _ side: OnlineExpansion.Side) -> Bool {
    expansion.composites.contains { composite in
      let half = side == .first ? composite.first : composite.second
      return composite.table == table && half.columns.contains { $0.name == column }
    }
  }
}

extension OnlineExpansion.Composite.Half {
  /// The first model's columns with the values of renamed elements: only the new model says what they were.
  ///
  /// - Parameter required: The columns of elements that must have a value.
  fileprivate func returning(from second: Self, required: Set<String>) -> Self {
    let parts = parts.map { part -> OnlineExpansion.Composite.Part in
      guard part.counterpart == nil,
        let other = second.parts.first(where: { $0.counterpart?.name == part.column.name }),
        let inverse = other.value.inverse(from: other.column.name)
      else { return part }
      let value: RowExpression =
        switch part.value {
        case .ifPresent(let columns, .constant(let standard), let otherwise) where required.contains(part.column.name):
          .ifPresent(columns, .filled(inverse, with: standard), otherwise: otherwise)
        case .constant(let standard) where standard != .null && required.contains(part.column.name):
          .filled(inverse, with: standard)
        default: inverse
        }
      return .init(column: part.column, value: value, counterpart: other.column)
    }
    return Self(columns: columns, parts: parts)
  }
}

extension OnlineExpansion.Composite.Column {
  fileprivate init(_ column: TableMap.Column) { self.init(name: column.name, type: column.type) }
}

extension RowExpression {
  /// The value in the rows of an entity.
  fileprivate func value(for number: Int) -> RowExpression {
    switch self {
    case .byEntity(let cases, let otherwise):
      (cases.first { $0.numbers.contains(number) }?.value ?? otherwise).value(for: number)
    case .filled(let inner, let value): .filled(inner.value(for: number), with: value)
    case .ifPresent(let columns, let inner, let value):
      .ifPresent(columns, inner.value(for: number), otherwise: value)
    default: self
    }
  }

  /// The value of the column from which an expression takes its values.
  ///
  /// - Parameter name: The column with the expression's values.
  fileprivate func inverse(from name: String) -> RowExpression? {
    switch self {
    case .column: .column(name)
    case .marked: .unmarked(name)
    case .unmarked: .marked(name)
    case .filled(let inner, _), .ifPresent(_, let inner, _): inner.inverse(from: name)
    case .constant, .byEntity, .renumbered, .shifted, .found: nil
    }
  }

  /// The column whose values the expression has, apart from replacements of missing ones; nil for a constant.
  fileprivate var mainColumn: String? {
    switch self {
    case .column(let name), .marked(let name), .unmarked(let name): name
    case .filled(let inner, _), .ifPresent(_, let inner, _): inner.mainColumn
    case .constant, .byEntity, .renumbered, .shifted, .found: nil
    }
  }
}
