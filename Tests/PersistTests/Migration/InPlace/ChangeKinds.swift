import Testing

@testable import Persist
@testable import PersistModel

/// Two models that differ by one kind of change that can be migrated in place.
struct ChangeKind: Sendable, CustomTestStringConvertible {
  let name: String
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  /// The maximum number of statements for the change, regardless of the number of rows.
  let statements: Int
  /// The maximum number of scans of one table.
  let passes: Int
  /// Whether rows with random relationships are valid in the new model.
  let takesAllRows: Bool

  var testDescription: String { name }

  init(
    _ name: String, _ old: [EntityDescription], _ new: [EntityDescription], statements: Int, passes: Int = 0,
    takesAllRows: Bool = true
  ) throws {
    self.name = name
    self.old = try ManagedObjectModel(ModelDescription(entities: old))
    self.new = try ManagedObjectModel(ModelDescription(entities: new))
    self.statements = statements
    self.passes = passes
    self.takesAllRows = takesAllRows
  }
}

extension ChangeKind {
  static let all: [ChangeKind] = {
    do { return try attributes + types + relationships + entities + hierarchies + indexes } catch {
      preconditionFailure("The models of this test are valid: \(error)")
    }
  }()

  // MARK: Attributes

  private static func item(_ attributes: AttributeDescription...) -> [EntityDescription] {
    [EntityDescription("Item", attributes: attributes + [AttributeDescription("kept", .string)])]
  }

  /// Attributes whose values are never in files, with or without the setting.
  private static func unmarked(external: Bool) -> [EntityDescription] {
    let types: [AttributeType] = [.string, .uri, .uuid, .int64, .boolean, .double, .decimal, .date]
    return [
      EntityDescription(
        "Item", attributes: types.map { .init($0.rawValue + "Value", $0, allowsExternalStorage: external) })
    ]
  }

  private static var attributes: [ChangeKind] {
    get throws {
      try [
        ChangeKind(
          "attributes added", item(),
          item(
            .init("a", .string), .init("b", .int32, isOptional: false, default: .integer(3)),
            .init("c", .date)), statements: 3),
        ChangeKind("one attribute removed", item(.init("a", .string)), item(), statements: 1, passes: 1),
        ChangeKind(
          "several attributes removed", item(.init("a", .string), .init("b", .int32), .init("c", .date)), item(),
          statements: 6, passes: 1),
        ChangeKind(
          "attributes renamed", item(.init("a", .string), .init("b", .int32)),
          item(
            .init("x", .string, renamingIdentifier: "a"), .init("y", .int32, renamingIdentifier: "b")), statements: 2),
        ChangeKind(
          "optional to required with a default", item(.init("a", .int32)),
          item(.init("a", .int32, isOptional: false, default: .integer(7))), statements: 1, passes: 1),
        ChangeKind(
          "several attributes optional to required", item(.init("a", .int32), .init("b", .string), .init("c", .double)),
          item(
            .init("a", .int32, isOptional: false, default: .integer(7)),
            .init("b", .string, isOptional: false, default: .string("none")),
            .init("c", .double, isOptional: false, default: .double(0.5))), statements: 6, passes: 1),
        ChangeKind(
          "required to optional", item(.init("a", .int32, isOptional: false, default: .integer(7))),
          item(.init("a", .int32)), statements: 0),
        ChangeKind(
          "external storage on", item(.init("a", .binary)), item(.init("a", .binary, allowsExternalStorage: true)),
          statements: 1, passes: 1),
        ChangeKind(
          "external storage off", item(.init("a", .binary, allowsExternalStorage: true)), item(.init("a", .binary)),
          statements: 1, passes: 2),
        ChangeKind(
          "external storage on, for types without bytes", unmarked(external: false), unmarked(external: true),
          statements: 0),
        ChangeKind(
          "external storage off, for types without bytes", unmarked(external: true), unmarked(external: false),
          statements: 0),
        ChangeKind(
          "attributes added, removed, renamed and required at once",
          item(.init("a", .string), .init("b", .int32), .init("c", .string)),
          item(
            .init("x", .string, renamingIdentifier: "a"), .init("b", .int32, isOptional: false, default: .integer(1)),
            .init("d", .string)), statements: 8, passes: 1),
      ]
    }
  }

  private static var types: [ChangeKind] {
    get throws {
      let same: [(AttributeType, AttributeType)] = [
        (.int16, .int32), (.int16, .int64), (.int32, .int64), (.boolean, .int16), (.string, .uri), (.uri, .string),
        (.float, .double), (.binary, .transformable),
      ]
      let written: [(AttributeType, AttributeType)] = [
        (.int16, .float), (.int16, .double), (.int32, .double), (.int16, .decimal), (.int32, .decimal),
        (.int64, .decimal),
      ]
      return try same.map { from, to in
        try ChangeKind(
          "\(from) to \(to)", item(.init("a", from)), item(.init("a", to)), statements: 6, passes: 1,
          // Random texts aren't URIs.
          takesAllRows: to != .uri)
      } + written.map { from, to in
        try ChangeKind("\(from) to \(to)", item(.init("a", from)), item(.init("a", to)), statements: 6, passes: 1)
      }
    }
  }

  // MARK: Relationships

  /// Marks and tags, with or without a join table.
  private static func marks(
    _ mark: RelationshipDescription?, _ tag: RelationshipDescription?
  ) -> [EntityDescription] {
    [
      EntityDescription(
        "Mark", attributes: [.init("title", .string)], relationships: [mark].compactMap { $0 }),
      EntityDescription("Tag", attributes: [.init("text", .string)], relationships: [tag].compactMap { $0 }),
    ]
  }

  private static func one(
    _ name: String, _ to: String, _ inverse: String?, was: String? = nil
  ) -> RelationshipDescription {
    RelationshipDescription(name, to: to, inverse: inverse, renamingIdentifier: was)
  }

  private static func many(
    _ name: String, _ to: String, _ inverse: String?, isOrdered: Bool = false, was: String? = nil
  ) -> RelationshipDescription {
    RelationshipDescription(name, toMany: to, inverse: inverse, isOrdered: isOrdered, renamingIdentifier: was)
  }

  private static var relationships: [ChangeKind] {
    get throws {
      let toOne = marks(one("tag", "Tag", "marks"), many("marks", "Mark", "tag"))
      let ordered = marks(one("tag", "Tag", "marks"), many("marks", "Mark", "tag", isOrdered: true))
      let both = marks(many("tags", "Tag", "marks", was: "tag"), many("marks", "Mark", "tags"))
      let bothOrdered = marks(many("tags", "Tag", "marks", isOrdered: true, was: "tag"), many("marks", "Mark", "tags"))
      let none = marks(nil, nil)
      return try [
        ChangeKind("to-one and its inverse added", none, toOne, statements: 2, passes: 1),
        ChangeKind("many-to-many added", none, both, statements: 2),
        ChangeKind("to-one and its inverse removed", toOne, none, statements: 2, passes: 1),
        ChangeKind("many-to-many removed", both, none, statements: 1),
        ChangeKind(
          "to-one renamed", toOne,
          marks(one("label", "Tag", "items", was: "tag"), many("items", "Mark", "label", was: "marks")), statements: 4,
          passes: 1),
        ChangeKind(
          "many-to-many renamed", both,
          marks(many("labels", "Tag", "items", was: "tags"), many("items", "Mark", "labels", was: "marks")),
          statements: 5, passes: 1),
        ChangeKind("one-to-many unordered to ordered", toOne, ordered, statements: 3, passes: 1),
        ChangeKind("one-to-many ordered to unordered", ordered, toOne, statements: 1, passes: 1),
        ChangeKind("many-to-many unordered to ordered", both, bothOrdered, statements: 4, passes: 1),
        ChangeKind("many-to-many ordered to unordered", bothOrdered, both, statements: 2, passes: 1),
        ChangeKind("one-to-many to many-to-many", toOne, both, statements: 8, passes: 3),
        ChangeKind(
          "many-to-many to one-to-many", both,
          marks(one("tag", "Tag", "marks", was: "tags"), many("marks", "Mark", "tag")), statements: 8, passes: 3,
          takesAllRows: false),
        ChangeKind(
          "one-to-one to one-to-many", marks(one("tag", "Tag", "mark"), one("mark", "Mark", "tag")),
          marks(one("tag", "Tag", "marks"), many("marks", "Mark", "tag", was: "mark")), statements: 6, passes: 3),
      ]
    }
  }

  // MARK: Entities

  private static let plain = EntityDescription("Plain", attributes: [.init("a", .string), .init("b", .int32)])

  private static var entities: [ChangeKind] {
    get throws {
      let other = EntityDescription("Other", attributes: [.init("n", .int64)])
      // Numbers follow the names: a new name shifts those after it.
      let early = EntityDescription("Aardvark", attributes: [.init("n", .int64)])
      var renamed = plain
      renamed.name = "Simple"
      renamed.renamingIdentifier = "Plain"
      return try [
        ChangeKind(
          "an entity added behind the others", [other, plain], [other, plain, EntityDescription("Zebra")],
          statements: 3),
        ChangeKind("an entity added before others", [other, plain], [early, other, plain], statements: 8, passes: 1),
        ChangeKind("an entity removed", [early, plain], [plain], statements: 6, passes: 1),
        ChangeKind("an entity renamed", [other, plain], [other, renamed], statements: 4),
      ]
    }
  }

  private static var hierarchies: [ChangeKind] {
    get throws {
      func animals(
        _ base: [AttributeDescription], cat: [AttributeDescription], dog: [AttributeDescription],
        dogParent: String? = "Animal", more: [EntityDescription] = []
      ) -> [EntityDescription] {
        [
          EntityDescription("Animal", attributes: base),
          EntityDescription("Cat", parent: "Animal", attributes: cat),
          EntityDescription("Dog", parent: dogParent, attributes: dog),
        ] + more
      }
      let name = AttributeDescription("name", .string)
      let age = AttributeDescription("age", .int16)
      return try [
        ChangeKind(
          "an attribute moved up", animals([], cat: [name], dog: [name]), animals([name], cat: [], dog: []),
          statements: 6, passes: 1),
        ChangeKind(
          "an attribute moved down", animals([name], cat: [], dog: []), animals([], cat: [name], dog: [name]),
          statements: 6, passes: 1),
        ChangeKind(
          "a new parent in between", animals([name], cat: [age], dog: [age]),
          animals(
            [name], cat: [age], dog: [age], dogParent: "Canine",
            more: [EntityDescription("Canine", isAbstract: true, parent: "Animal")]), statements: 8, passes: 1),
        ChangeKind(
          "a new child", animals([name], cat: [], dog: []),
          animals([name], cat: [], dog: [], more: [EntityDescription("Eel", parent: "Animal", attributes: [age])]),
          statements: 4),
        ChangeKind(
          "a parent for an entity that had none", [EntityDescription("Dog", attributes: [name])],
          [
            EntityDescription("Animal", isAbstract: true, attributes: [name]),
            EntityDescription("Dog", parent: "Animal"),
          ], statements: 8, passes: 1),
        ChangeKind(
          "an entity taken out of a hierarchy", animals([name], cat: [], dog: []),
          animals([name], cat: [], dog: [name], dogParent: nil), statements: 12, passes: 2),
      ]
    }
  }

  private static var indexes: [ChangeKind] {
    get throws {
      func item(_ indexes: [FetchIndexDescription], unique: [[String]] = []) -> [EntityDescription] {
        [
          EntityDescription(
            "Item", attributes: [.init("a", .string), .init("b", .string)], uniquenessConstraints: unique,
            indexes: indexes)
        ]
      }
      let byA = FetchIndexDescription("byA", on: "a")
      return try [
        ChangeKind("an index added", item([]), item([byA]), statements: 1, passes: 1),
        ChangeKind("an index removed", item([byA]), item([]), statements: 1),
        ChangeKind(
          "an index changed", item([byA]), item([FetchIndexDescription("byA", on: "b")]), statements: 2),
        ChangeKind("a uniqueness constraint added", item([]), item([], unique: [["a"]]), statements: 1, passes: 1),
        ChangeKind("a uniqueness constraint removed", item([], unique: [["a"]]), item([]), statements: 1),
      ]
    }
  }
}
