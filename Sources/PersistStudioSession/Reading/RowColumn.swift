import Persist

/// A column of the grid: a property, as the values that have to be read for it.
struct RowColumn {
  /// A stored value: an attribute, or an element of a composite.
  struct Leaf: Hashable {
    let path: [String]
    let type: AttributeType
    let slot: Int

    /// The leaf of an attribute that isn't a composite; nil for other properties.
    init?(_ property: Property) {
      guard let attribute = property.attribute, attribute.type != .composite else { return nil }
      (path, type, slot) = ([property.name], attribute.type, property.slot)
    }

    init(_ element: Property.Element) {
      (path, type, slot) = (element.path, element.attribute.type, element.slot)
    }

    var expression: FetchExpression { .path(of: .current, path) }
    /// Whether the value is a text, which may be too long to be read for a row of a grid.
    var isText: Bool { type == .string }
    /// Whether the value is of bytes, which aren't read for a grid.
    var isBytes: Bool { type == .binary || type == .transformable || type == .undefined || type == .objectID }
  }

  enum Content {
    case attribute(Leaf)
    case composite([Leaf])
    case toOne
    case toMany
  }

  let name: String
  let content: Content

  /// - Throws: `PersistenceError.Code.unknownProperty`; `invalidRequest` for a property without a stored value.
  init(_ name: String, of entity: Entity) throws {
    guard let property = entity.property(named: name) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, name), "\(entity.name) has no property '\(name)'.")
    }
    self.name = name
    if property.relationship != nil, !property.isTransient {
      content = property.isToMany ? .toMany : .toOne
    } else if let leaf = Leaf(property), !property.isTransient {
      content = .attribute(leaf)
    } else if property.attribute != nil, !property.isTransient {
      content = .composite(property.elements.map { Leaf($0) })
    } else {
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, name), "'\(name)' isn't stored, so it can't be a column.")
    }
  }

  var leaves: [Leaf] {
    switch content {
    case .attribute(let leaf): [leaf]
    case .composite(let leaves): leaves
    case .toOne, .toMany: []
    }
  }

  /// The expression of a relationship's column: the other object, or the number of members.
  var relationship: FetchExpression? {
    switch content {
    case .toOne: .path(of: .current, [name])
    case .toMany: .path(of: .current, [name, "@count"])
    case .attribute, .composite: nil
    }
  }
}
