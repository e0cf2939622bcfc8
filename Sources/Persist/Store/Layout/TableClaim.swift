/// One column that a model requires in a hierarchy's table: its purpose, type and name.
///
/// Claims are made in the order in which Core Data assigns names: entities by their numbers in the store, and within an
/// entity first attributes and then relationships, each by name.
struct TableClaim: Sendable {
  /// The purpose of a claim, in terms of the entity that declares the property; subentities share it.
  struct Key: Sendable {
    /// The raw value separates the entity's name from the property's in ``text``.
    enum Part: String, Sendable {
      /// The property's own column.
      case value = "\0"
      /// The destination's entity number.
      case entityNumber = "\u{1}"
      /// The position among the members of an ordered inverse.
      case order = "\u{2}"
    }

    /// The declaring entity; for a to-many relationship without inverse the one that owns the relationship.
    let entity: String
    let property: String
    /// The names from a composite attribute to an element; empty for all other properties.
    let element: ArraySlice<String>
    let part: Part

    init(entity: String, property: String, element: ArraySlice<String> = [], part: Part) {
      (self.entity, self.property, self.element, self.part) = (entity, property, element, part)
    }

    /// A unique text for the key. Dictionaries with keys of another type would take half a million instructions when
    /// a process first uses them.
    @inline(never)
    var text: String {
      var text = entity
      text += part.rawValue
      text += property
      for name in element {
        text += "\0"
        text += name
      }
      return text
    }
  }

  let key: Key
  /// The type of a new column, or that of the claim's column in an existing store.
  var type: TableMap.ColumnType
  /// The name if nothing collides with it.
  let baseName: String
  /// Other possible names in an existing store.
  let alternatives: [String]
  /// The position of the column among those of a new table.
  let group: ColumnGroup
  /// The entity whose table contains the column: the declaring one, or the destination of a to-many relationship
  /// without inverse.
  let holder: Entity

  /// - Parameter names: The name if nothing collides with it, and other possible ones.
  init(
    _ key: Key, type: TableMap.ColumnType, _ names: (name: String, alternatives: [String]), group: ColumnGroup,
    holder: Entity
  ) {
    self.key = key
    self.type = type
    (baseName, alternatives) = names
    self.group = group
    self.holder = holder
  }

  /// Whether the column contains keys.
  var isReference: Bool { group == .reference && key.part == .value }

  /// The purpose of the claim, for messages.
  var subject: String {
    let property = ([key.entity, key.property] + key.element).joined(separator: ".")
    return switch key.part {
    case .value: property
    case .entityNumber: "the entity number of \(property)"
    case .order: "the order of \(property)"
    }
  }
}

/// The groups by which the columns of a new table are ordered, as in tables created by Core Data.
enum ColumnGroup: Int, Sendable, Comparable {
  case integer, reference, number, decimal, text, uri, transformable, binary, uuid

  static func < (left: ColumnGroup, right: ColumnGroup) -> Bool { left.rawValue < right.rawValue }

  init(_ type: AttributeType) {
    switch type {
    case .int16, .int32, .int64, .boolean, .objectID, .undefined, .composite: self = .integer
    case .double, .float, .date: self = .number
    case .decimal: self = .decimal
    case .string: self = .text
    case .uri: self = .uri
    case .transformable: self = .transformable
    case .binary: self = .binary
    case .uuid: self = .uuid
    }
  }
}
