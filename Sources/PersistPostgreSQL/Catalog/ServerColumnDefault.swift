import Foundation
import Persist

/// The default value of an attribute's column: the model's, so that a row inserted with SQL begins with the same values
/// as an object.
///
/// Only the attributes of a hierarchy's root have one: a column of a subentity is part of rows of other entities too.
struct ServerColumnDefault {
  /// The names on the server.
  let table: String
  let column: String
  /// The model's value; null for none.
  private let value: SQLValue

  /// The default values of all attributes' columns, including those that have none.
  static func all(of map: TableMap) -> [ServerColumnDefault] {
    var found: [ServerColumnDefault] = []
    var known: Set<[String]> = []
    // Roots come before their subentities, which share their columns.
    for table in map.tables where !map.absent.contains(table.entity.name) {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, !attribute.isDerived else { continue }
        let place = ServerColumnDefault(
          table: ServerText.name(table.table), column: ServerText.name(column.name),
          value: table.entity.root === table.entity ? Self.value(of: column, attribute, in: table.entity) : .null)
        if known.insert([place.table, place.column]).inserted { found.append(place) }
      }
    }
    return found
  }

  private static func value(
    of column: TableMap.Column, _ attribute: AttributeDescription, in entity: Entity
  ) -> SQLValue {
    guard let property = entity.property(named: column.property), let whole = property.attribute?.defaultValue else {
      return .null
    }
    let path = property.elements.first { $0.slot == column.slot }?.path.dropFirst() ?? []
    let value = path.isEmpty ? whole : whole.element(at: Array(path))
    if value.hasNullCharacter { return .null }
    return SQLValue(value, of: attribute) ?? .null
  }

  /// A change of the default value.
  struct Change {
    let statement: ServerText
    /// A query whose answer is 1 if the column has the value already; nil if it doesn't have it.
    var isSame: ServerText?
  }

  /// The change that gives the column its default value; nil if it has none and needs none, or if others have given it
  /// one that is computed, which remains.
  ///
  /// - Parameters:
  ///   - present: The default value that the column has; nil for none.
  ///   - type: The type of the column.
  func change(replacing present: String?, type: String) -> Change? {
    let start: ServerText = "ALTER TABLE \(table: table) ALTER COLUMN \(name: column)"
    guard let present else { return value == .null ? nil : Change(statement: "\(start) SET DEFAULT \(literal(type))") }
    guard Self.isConstant(present) else { return nil }
    guard value != .null else { return Change(statement: "\(start) DROP DEFAULT") }
    let kind = ServerTerms.Kind(typeName: type)
    return Change(
      statement: "\(start) SET DEFAULT \(literal(type))",
      isSame: """
        SELECT (\(ServerText(stored: StoredDefinition(sql: present))))::\(kind.typeName) \
        IS NOT DISTINCT FROM \(literal(type))
        """)
  }

  private func literal(_ type: String) -> ServerText {
    // A literal, because only constants count as defaults of Persist; the usual text of bytes calls a function.
    if case .blob(let data) = value, ServerTerms.Kind(typeName: type) == .bytes {
      return "\(literal: "\\x" + data.hexadecimalDigits)::bytea"
    }
    return ServerTerms.Kind(typeName: type).literal(value)
  }

  /// Whether an expression as the server prints it is a literal, perhaps with a type.
  static func isConstant(_ expression: String) -> Bool {
    let literal = /\(*(E?'([^']|'')*'|-?[0-9][0-9.]*|true|false)\)*(::[\w .:\[\])]+|::"[^"]+"\.\w+)*\)*/
    // A combining mark after a quotation mark doesn't belong to it.
    return expression.wholeMatch(of: literal.matchingSemantics(.unicodeScalar)) != nil
  }
}
