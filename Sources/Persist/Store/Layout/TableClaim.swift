/// One column that a model wants in a hierarchy's table: what for, of which kind, and under which name.
///
/// Claims are made in the order in which Core Data gives names away: entities by their numbers in the store; within one
/// its attributes by name, then its relationships by name.
struct TableClaim: Sendable {
  /// What a claim is for. Its parts are those of the entity that declares the property, which its subentities share.
  struct Key: Sendable, Hashable {
    enum Part: Sendable, Hashable {
      /// The property's own column.
      case value
      /// The destination's entity number.
      case entityNumber
      /// The place among the members of an ordered inverse.
      case order
    }

    /// The declaring entity; of a to-many without inverse the one that owns the relationship.
    let entity: String
    /// The property's name, and behind it those of elements of composite attributes.
    let path: [String]
    let part: Part
  }

  let key: Key
  let type: TableMap.ColumnType
  /// The name that it has where nothing collides.
  let baseName: String
  /// Other names under which a store may have it.
  let alternatives: [String]
  /// Where the column stands among those of a new table.
  let group: ColumnGroup
  /// The entity in whose table the column stands: the declaring one, or the destination of a to-many without inverse.
  let holder: Entity

  init(
    _ key: Key, _ type: TableMap.ColumnType, baseName: String, alternatives: [String] = [], group: ColumnGroup,
    holder: Entity
  ) {
    self.key = key
    self.type = type
    self.baseName = baseName
    self.alternatives = alternatives
    self.group = group
    self.holder = holder
  }

  /// Whether the column holds keys.
  var isReference: Bool { group == .reference && key.part == .value }

  /// What the claim is for, in words.
  var subject: String {
    let property = "\(key.entity).\(key.path.joined(separator: "."))"
    return switch key.part {
    case .value: property
    case .entityNumber: "the entity number of \(property)"
    case .order: "the order of \(property)"
    }
  }
}

/// The groups in which the columns of a new table follow each other, as in tables that Core Data makes.
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
