/// The column of a derived attribute, computed by the store from other columns.
package struct DerivedColumn: Sendable, Equatable {
  package let table: String
  package let name: String
  /// The part of the names of its triggers that distinguishes it from other columns of the store.
  let label: String
  /// The entities whose rows have the attribute.
  let entityNumbers: [Int]
  /// Whether the column contains truth values that aren't numbers, as on a server.
  let isBoolean: Bool
  package let value: DerivedValue
}

/// The value of a derived column, in terms of columns of the row and of related rows.
package indirect enum DerivedValue: Sendable, Equatable {
  case column(String)
  /// A column of truth values that aren't numbers, as the numbers 1 and 0.
  case flag(String)
  /// The time of the row's last change.
  case now
  case text(TextFunction, DerivedValue)
  /// The value of the destination row of a to-one relationship.
  case through(DerivedHop, DerivedValue)
  /// An aggregate over the members of a to-many relationship; a nil value counts them.
  case aggregate(CollectionOperator, DerivedHop, DerivedValue?)

  package enum TextFunction: Sendable, Hashable { case uppercase, lowercase, canonical }
}

/// A join from the rows of one table to the rows of another.
package struct DerivedHop: Sendable, Equatable {
  package enum Way: Sendable, Equatable {
    /// A column of the row contains the other row's key.
    case key(String)
    /// A column of the other rows contains the row's key.
    case owner(String)
    case join(table: String, own: String, member: String)
  }

  /// The table of the row.
  package let source: String
  /// The table of the destination rows.
  package let target: String
  package let way: Way
}

extension DerivedColumn {
  /// The folded names of the tables from which the value is computed.
  package var inputTables: Set<String> { Set(([table] + value.tables).map(\.foldedIdentifier)) }
}

extension DerivedValue {
  /// The tables that the value's hops lead through.
  fileprivate var tables: [String] {
    switch self {
    case .column, .flag, .now: []
    case .text(_, let inner): inner.tables
    case .through(let hop, let inner): hop.tables + inner.tables
    case .aggregate(_, let hop, let inner): hop.tables + (inner?.tables ?? [])
    }
  }
}

extension DerivedHop {
  fileprivate var tables: [String] {
    if case .join(let table, _, _) = way { [source, target, table] } else { [source, target] }
  }
}

extension ManagedObjectModel {
  /// Checks that stores support every derived attribute.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel``, listing all attributes with an unsupported derivation.
  package func checkDerivations() throws { _ = try TableMap.forNewStore(self).derivedColumns() }
}

extension TableMap {
  /// The columns of all derived attributes.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel``, listing all attributes with an unsupported derivation.
  package func derivedColumns() throws -> [DerivedColumn] {
    var columns: [DerivedColumn] = []
    var problems: [PersistenceError] = []
    for (entity, attribute) in derivedAttributes {
      do {
        columns += try derivedColumn(of: entity, attribute).map { [$0] } ?? []
      } catch let error as PersistenceError {
        problems.append(error)
      }
    }
    guard problems.isEmpty else {
      throw PersistenceError.combining(
        problems, as: .invalidModel, "\(problems.count) derivations can't be maintained.")
    }
    return columns
  }

  /// The columns of the supported derived attributes, for a store that was created elsewhere.
  package var possibleDerivedColumns: [DerivedColumn] {
    derivedAttributes.compactMap { entity, attribute in try? derivedColumn(of: entity, attribute) }
  }

  private var derivedAttributes: [(Entity, AttributeDescription)] {
    model.entities.flatMap { entity in
      entity.description.attributes.filter { $0.isDerived && !$0.isTransient }.map { (entity, $0) }
    }
  }

  private func derivedColumn(of entity: Entity, _ attribute: AttributeDescription) throws -> DerivedColumn? {
    guard let derivation = attribute.derivation, let property = entity.property(named: attribute.name),
      let column = self[entity].column(slot: property.slot), !absent.contains(entity.name)
    else { return nil }
    let parser = DerivationParser(map: self, entity: entity, attribute: attribute.name, text: derivation)
    return DerivedColumn(
      table: self[entity].table, name: column.name, label: names.label(of: column.name, in: self[entity].table),
      entityNumbers: model.hierarchy(of: entity).map { numbers[$0] }.sorted(), isBoolean: column.type == .boolean,
      value: try parser.value())
  }
}
