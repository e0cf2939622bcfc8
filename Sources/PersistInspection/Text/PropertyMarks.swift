package import Persist

/// The model's provisions for finding objects by the values of a property: uniqueness, indexes, full-text search.
package struct PropertyMarks {
  /// Whether no two objects may have the same value.
  package let isUnique: Bool
  /// The other properties of the constraints over several properties, one array for each constraint.
  package let uniqueWith: [[String]]
  /// The conditions under which the property is unique, one predicate for each constraint with conditions.
  package let uniqueWhere: [String]
  /// Whether an index begins with the property, apart from those for uniqueness.
  package let isIndexed: Bool
  package let isFullText: Bool

  /// - Parameter entity: The entity whose property it is, itself or inherited.
  package init(of property: Property, in entity: Entity) {
    let name = property.name
    let entities = Array(sequence(first: entity) { $0.superentity }).map(\.description)
    var (constraints, conditions): ([[String]], [String]) = ([], [])
    for entity in entities {
      for names in entity.uniquenessConstraints where names.contains(name) {
        guard let tests = entity.uniquenessConditions[names], !tests.isEmpty else {
          constraints.append(names)
          continue
        }
        let others = names.filter { $0 != name }
        conditions.append((others.isEmpty ? "" : "with \(others.joined(separator: ", ")) ") + "where \(tests.words)")
      }
    }
    isUnique = constraints.contains([name])
    uniqueWith = constraints.filter { $0.count > 1 }.map { $0.filter { $0 != name } }
    uniqueWhere = conditions
    let indexed = entities.flatMap(\.compoundIndexes).compactMap(\.first)
      + entities.flatMap(\.indexes).compactMap { index in
        if case .property(let first)? = index.elements.first?.subject { first } else { nil }
      }
    isIndexed = property.attribute?.isIndexed == true || indexed.contains(name)
    isFullText = property.attribute?.isFullTextSearched == true
  }

  /// The marks, such as `unique`, `unique with year` or `unique where deletedAt == nil`.
  package var words: [String] {
    (isUnique ? ["unique"] : []) + uniqueWith.map { "unique with \($0.joined(separator: ", "))" }
      + uniqueWhere.map { "unique \($0)" }
      + (isIndexed ? ["indexed"] : []) + (isFullText ? ["full text"] : [])
  }
}
