import Foundation

/// The source of a column's values, for the rows of one entity.
enum ColumnOrigin: Sendable, Equatable {
  case old(String, fill: SQLValue?)
  /// Bytes whose format changes because external storage is switched on or off.
  case marked(String, fill: SQLValue?)
  case unmarked(String, fill: SQLValue?)
  /// The value of a composite attribute's element that depends on other elements, and the element's old column.
  case element(RowExpression, column: String?)
  /// Entity numbers of a relationship's destination.
  case oldNumber(String)
  case constant(SQLValue)

  var oldColumn: String? {
    switch self {
    case .old(let column, _), .marked(let column, _), .unmarked(let column, _), .oldNumber(let column): column
    case .element(_, let column): column
    case .constant: nil
    }
  }

  var fill: SQLValue? {
    switch self {
    case .old(_, let fill), .marked(_, let fill), .unmarked(_, let fill): fill
    case .element, .oldNumber, .constant: nil
    }
  }

  var isEntityNumber: Bool { if case .oldNumber = self { true } else { false } }

  /// The value as an expression over the old columns, without the replacement for missing values.
  var expression: RowExpression {
    switch self {
    case .old(let column, _), .oldNumber(let column): .column(column)
    case .marked(let column, _): .marked(column)
    case .unmarked(let column, _): .unmarked(column)
    case .element(let value, _): value
    case .constant(let value): .constant(value)
    }
  }
}

extension InPlacePlanner {
  func origin(of use: ColumnUse, for entity: Entity) -> ColumnOrigin {
    switch use {
    case .attribute(let attribute, let property, let elements):
      return origin(of: attribute, property: property, elements: elements, for: entity)
    case .reference(let reference):
      guard case .columns(let columns) = transfer(of: reference) else { return .constant(.null) }
      switch reference.part {
      case .key: return .old(columns.key, fill: nil)
      case .number: return columns.number.map { .oldNumber($0) } ?? .constant(.null)
      case .place: return columns.place.map { .old($0, fill: nil) } ?? .constant(.null)
      }
    }
  }

  private func origin(
    of attribute: AttributeDescription, property: String, elements: [String], for entity: Entity
  ) -> ColumnOrigin {
    let origin = correspondence.origin(of: property, in: entity.name)
    let fill = (origin?.fill?.element(at: elements)).flatMap { SQLValue($0, of: attribute) }
    guard let source = comparison.source(of: entity), let name = origin?.source,
      let before = source.property(named: name)
    else { return .constant(fill ?? .null) }
    guard elements.isEmpty else {
      return self.origin(ofElement: elements, of: entity.property(named: property), from: before, of: source, origin)
    }
    guard let column = old[source].column(slot: before.slot), case .attribute(let former) = column.role else {
      return .constant(fill ?? .null)
    }
    switch MarkChange(from: former, to: attribute) {
    case .added: return .marked(column.name, fill: fill)
    case .removed: return .unmarked(column.name, fill: fill)
    case .same: return .old(column.name, fill: fill)
    }
  }

  private func origin(
    ofElement path: [String], of property: Property?, from before: Property, of source: Entity,
    _ origin: ModelCorrespondence.Origin?
  ) -> ColumnOrigin {
    let move = property.map { CompositeMove(from: before, to: $0) }
    guard let move, let part = move.parts.first(where: { $0.path == path }) else { return .constant(.null) }
    func column(_ element: Property.Element) -> String? { old[source].column(slot: element.slot)?.name }
    let value = move.expression(of: part, filling: origin?.fill, column: column) { element in
      guard let name = column(element) else { return .constant(.null) }
      switch MarkChange(from: element.attribute, to: part.element.attribute) {
      case .added: return .marked(name)
      case .removed: return .unmarked(name)
      case .same: return .column(name)
      }
    }
    return switch value {
    case .constant(let value)?: .constant(value)
    case .column(let name)?: .old(name, fill: nil)
    case let value?: .element(value, column: part.old.flatMap(column))
    case nil: .constant(.null)
    }
  }
}
