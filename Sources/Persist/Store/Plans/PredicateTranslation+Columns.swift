import Foundation

/// The columns of results that are values rather than rows.
extension PredicateTranslation {
  /// A column, with the way to decode its SQLite values.
  package struct ValueColumn {
    package let column: SQLColumn
    package let form: Form

    package enum Form: Equatable {
      case integer, boolean, double, number, decimal, date, string, uri, uuid, data
      /// A key followed by the entity number of its row in the next column; without a number, all rows are of the
      /// entity.
      case key(Entity, hasNumber: Bool)
    }

    /// The entity number that accompanies a key.
    package var number: SQLTerm?
  }

  /// A column over the rows of an entity; nil if it can't be translated exactly.
  package mutating func column(_ column: ValueQuery.Column, over entity: Entity, root: SQLRow) -> ValueColumn? {
    let scope = Scope(root: Row(row: root, entity: entity))
    switch column {
    case .value(let expression): return value(expression, in: scope)
    case .aggregate(let aggregate):
      guard let argument = aggregate.argument else {
        return ValueColumn(column: .aggregate(.count, nil), form: .integer)
      }
      guard let value = value(argument, in: scope), case .term(let term) = value.column else { return nil }
      guard let form = Self.form(of: aggregate.function, over: value.form) else { return nil }
      return ValueColumn(column: .aggregate(aggregate.function, term), form: form)
    }
  }

  private mutating func value(_ expression: FetchExpression, in scope: Scope) -> ValueColumn? {
    guard case .term(let term, let kind)? = operand(expression, in: scope), ParserStackUse.holds(term)
    else { return nil }
    switch kind {
    case .key(let root):
      let destination = destination(of: expression, from: scope.root.entity) ?? root
      guard destination.hasSubentities else {
        return ValueColumn(column: .term(term), form: .key(destination, hasNumber: false))
      }
      let target = newRow(of: destination)
      let scan = SQLScan(tables: [table(of: target, withKey: term)])
      return ValueColumn(
        column: .term(term), form: .key(destination, hasNumber: true),
        number: .only(.column("Z_ENT", of: target.row), of: scan))
    case .whole:
      guard let areBooleans = isBoolean(expression, from: scope.root.entity) else { return nil }
      return ValueColumn(column: .term(term), form: areBooleans ? .boolean : .integer)
    case .number:
      guard isBoolean(expression, from: scope.root.entity) == false else { return nil }
      return ValueColumn(column: .term(term), form: isAttribute(expression) ? .double : .number)
    case .date: return ValueColumn(column: .term(term), form: .date)
    case .decimal: return ValueColumn(column: .term(term), form: .decimal)
    case .mixed: return nil
    case .text: return ValueColumn(column: .term(term), form: .string)
    case .uri: return ValueColumn(column: .term(term), form: .uri)
    case .uuid: return ValueColumn(column: .term(term), form: .uuid)
    case .data: return ValueColumn(column: .term(term), form: .data)
    }
  }

  /// The form of an aggregate over values of a form; nil if SQLite's result differs from the evaluator's.
  private static func form(of function: GroupAggregate.Function, over form: ValueColumn.Form) -> ValueColumn.Form? {
    switch (function, form) {
    case (.count, _): .integer
    case (.sum, .integer), (.sum, .boolean), (.sum, .double), (.sum, .number): .number
    case (.average, .integer), (.average, .boolean), (.average, .double), (.average, .number): .double
    case (.least, .decimal), (.greatest, .decimal), (.least, .key), (.greatest, .key): nil
    case (.least, .data), (.greatest, .data), (.least, .boolean), (.greatest, .boolean): nil
    case (.least, _), (.greatest, _): form
    default: nil
    }
  }

  private func isAttribute(_ expression: FetchExpression) -> Bool {
    expression.keys.map { !$0.contains { $0.hasPrefix("@") } } ?? false
  }

  /// Whether the evaluator's values of an expression are Booleans, which SQL doesn't distinguish from numbers; nil if
  /// some rows may have Booleans and others numbers.
  private func isBoolean(_ expression: FetchExpression, from entity: Entity) -> Bool? {
    switch expression {
    case .constant(.boolean): return true
    case .ternary(_, let first, let second):
      let isFirst = isBoolean(first, from: entity)
      return isFirst == isBoolean(second, from: entity) ? isFirst : nil
    case .function(.noIndex, let arguments): return arguments.first.flatMap { isBoolean($0, from: entity) }
    case .path(let root, var keys):
      if let index = keys.firstIndex(where: { CollectionOperator(rawValue: $0) != nil }) {
        guard [CollectionOperator.minimum.rawValue, CollectionOperator.maximum.rawValue].contains(keys[index]) else {
          return false
        }
        // The least and the greatest are members.
        keys.remove(at: index)
      }
      return destination(of: root, from: entity).map { map.model.attribute(at: keys, from: $0)?.type == .boolean }
    default: return false
    }
  }

  private func destination(of expression: FetchExpression, from start: Entity) -> Entity? {
    switch expression {
    case .current: return start
    case .path(of: .current, let keys):
      var entity = start
      for key in keys {
        guard let relationship = entity.relationship(named: key) else { return entity }
        entity = map.model.destination(of: relationship)
      }
      return entity
    case .subquery(let collection, _, _): return destination(of: collection, from: start)
    default: return nil
    }
  }
}

extension ManagedObjectModel {
  /// The attribute at the end of a path over relationships and composites.
  fileprivate func attribute(at keys: [String], from start: Entity) -> AttributeDescription? {
    var entity = start
    for (index, key) in keys.enumerated() {
      guard let property = entity.property(named: key) else { return nil }
      if let relationship = property.relationship {
        entity = destination(of: relationship)
        continue
      }
      let rest = keys[(index + 1)...]
      return rest.isEmpty
        ? property.attribute : property.elements.first { $0.path.dropFirst().elementsEqual(rest) }?.attribute
    }
    return nil
  }
}
