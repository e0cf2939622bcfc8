import Foundation

/// The source of a column's values, for the rows of one entity.
enum ColumnOrigin: Sendable, Hashable {
  case old(String, fill: SQLValue?)
  /// Bytes whose format changes because external storage is switched on or off.
  case marked(String, fill: SQLValue?)
  case unmarked(String, fill: SQLValue?)
  /// Entity numbers of a relationship's destination.
  case oldNumber(String)
  case constant(SQLValue)

  var oldColumn: String? {
    switch self {
    case .old(let column, _), .marked(let column, _), .unmarked(let column, _), .oldNumber(let column): column
    case .constant: nil
    }
  }

  var fill: SQLValue? {
    switch self {
    case .old(_, let fill), .marked(_, let fill), .unmarked(_, let fill): fill
    case .oldNumber, .constant: nil
    }
  }

  var isEntityNumber: Bool { if case .oldNumber = self { true } else { false } }

  /// The value as an expression over the old columns, without the replacement for missing values.
  var expression: RowExpression {
    switch self {
    case .old(let column, _), .oldNumber(let column): .column(column)
    case .marked(let column, _): .marked(column)
    case .unmarked(let column, _): .unmarked(column)
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
    let fill = (elements.isEmpty ? origin?.fill : attribute.defaultValue).flatMap { SQLValue($0, of: attribute) }
    guard let source = comparison.source(of: entity), let name = origin?.source,
      let column = old[source].columns.first(where: { column in
        guard column.property == name, case .attribute = column.role else { return false }
        let path = source.property(named: name)?.elements.first { $0.slot == column.slot }?.path ?? []
        return Array(path.dropFirst()) == elements
      }), case .attribute(let before) = column.role
    else { return .constant(fill ?? .null) }
    let standIn = elements.isEmpty ? fill : nil
    switch (before.allowsExternalStorage, attribute.allowsExternalStorage) {
    case (false, true): return .marked(column.name, fill: standIn)
    case (true, false): return .unmarked(column.name, fill: standIn)
    default: return .old(column.name, fill: standIn)
    }
  }
}
