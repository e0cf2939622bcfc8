/// The related objects that predicates and expressions read: the relationships followed from the evaluated object, and
/// the properties read at the end of each path.
package struct RelationshipReads {
  /// The objects at the end of a path of relationships.
  package struct End {
    package let entity: Entity
    /// The last relationship of the path, a property of the preceding objects.
    package let relationship: RelationshipDescription
    /// The names of the properties read; empty if only identities are used.
    package var properties: Set<String> = []
  }

  /// The ends by relationship path from the evaluated object.
  package private(set) var ends: [[String]: End] = Dictionary()
  /// Whether ``ends`` contains all paths. False if functions return objects, or properties are
  /// read by names that aren't constant.
  package private(set) var isComplete = true

  private let model: ManagedObjectModel
  private let entity: Entity
  private var variables: [String: Place] = Dictionary()

  private struct Place {
    var path: [String]
    var entity: Entity
  }

  package init(over entity: Entity, in model: ManagedObjectModel) {
    self.entity = entity
    self.model = model
  }

  package mutating func add(_ predicate: FetchPredicate) {
    predicate.forEachComparison { comparison in
      add(comparison.left)
      add(comparison.right)
    }
  }

  package mutating func add(_ expression: FetchExpression) { _ = place(of: expression) }

  /// The path and entity of the objects that an expression returns; nil if it returns values.
  private mutating func place(of expression: FetchExpression) -> Place? {
    switch expression {
    case .constant: return nil
    case .current: return Place(path: [], entity: entity)
    case .variable(let name): return variables[name]
    case .path(let root, let keys):
      switch root {
      case .current, .variable, .path, .subquery: return place(of: root).flatMap { follow(keys, from: $0) }
      default:
        add(root)
        if root.constantValue == nil { isComplete = false }
        return nil
      }
    case .element(let list, let position):
      if case .index(let index) = position { add(index) }
      let place = place(of: list)
      return position == .size ? nil : place
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { add(part) }
      return nil
    case .subquery(let collection, let variable, let predicate):
      let members = place(of: collection)
      let outer = variables[variable]
      variables[variable] = members
      add(predicate)
      variables[variable] = outer
      return members
    case .ternary(let predicate, let first, let second):
      add(predicate)
      add(first)
      add(second)
      return nil
    case .call(let target, let selector, let arguments):
      for part in [target] + arguments { add(part) }
      // The other methods that can be called return values.
      if selector.hasPrefix("valueForKey") { isComplete = false }
      return nil
    case .fetch, .keyPath:
      isComplete = false
      return nil
    }
  }

  private mutating func follow(_ keys: [String], from start: Place) -> Place? {
    var place = start
    for key in keys where CollectionOperator(rawValue: key) == nil {
      guard let property = place.entity.property(named: key) else {
        if key == "self" { continue }
        return nil
      }
      ends[place.path]?.properties.insert(key)
      guard let relationship = property.relationship else { return nil }
      place = Place(path: place.path + [key], entity: model.destination(of: relationship))
      if ends[place.path] == nil { ends[place.path] = End(entity: place.entity, relationship: relationship) }
    }
    return place
  }
}
