/// A column whose values the store computes from others: that of a derived attribute.
struct DerivedColumn: Sendable, Hashable {
  let table: String
  let name: String
  /// The entities whose rows have the attribute.
  let entityNumbers: [Int]
  let value: DerivedValue
}

/// What a derived column holds, in terms of columns of the row and of rows that it leads to.
indirect enum DerivedValue: Sendable, Hashable {
  case column(String)
  /// The time of the last change of the row.
  case now
  case text(TextFunction, DerivedValue)
  /// The value of the row that a to-one relationship leads to.
  case through(DerivedHop, DerivedValue)
  /// What the members of a to-many relationship come to; nil counts them.
  case aggregate(CollectionOperator, DerivedHop, DerivedValue?)

  enum TextFunction: Sendable, Hashable { case uppercase, lowercase, canonical }
}

/// The way from the rows of one table to rows of another.
struct DerivedHop: Sendable, Hashable {
  enum Way: Sendable, Hashable {
    /// A column of the row holds the other's key.
    case key(String)
    /// A column of the other rows holds the row's key.
    case owner(String)
    case join(table: String, own: String, member: String)
  }

  /// The table that the row is in.
  let source: String
  /// The table that the way leads to.
  let target: String
  let way: Way
}

extension ManagedObjectModel {
  /// Checks that a store can keep every derived attribute.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel``, naming all attributes whose derivation none can keep.
  package func checkDerivations() throws { _ = try TableMap.forNewStore(self).derivedColumns() }
}

extension TableMap {
  /// The columns of all derived attributes.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel``, naming all attributes whose derivation no store can keep.
  func derivedColumns() throws -> [DerivedColumn] {
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
      throw PersistenceError.combining(problems, as: .invalidModel, "\(problems.count) derivations can't be kept.")
    }
    return columns
  }

  /// The columns of those derived attributes that a store can keep: of a store that was made elsewhere.
  var possibleDerivedColumns: [DerivedColumn] {
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
      table: self[entity].table, name: column.name,
      entityNumbers: model.hierarchy(of: entity).map { numbers[$0] }.sorted(), value: try parser.value())
  }
}
