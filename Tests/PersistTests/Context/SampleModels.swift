import Persist

/// The models used by the tests of contexts.
enum SampleModels {
  /// Person {name, nickname = "buddy", displayName transient, pets ->> Pet cascade}; Pet {name, owner}.
  static let pets = ModelDescription(entities: [
    EntityDescription(
      "Person",
      attributes: [
        AttributeDescription("name", .string),
        AttributeDescription("nickname", .string, default: .string("buddy")),
        AttributeDescription("displayName", .string, isTransient: true),
      ],
      relationships: [RelationshipDescription("pets", toMany: "Pet", inverse: "owner", deleteRule: .cascade)]),
    EntityDescription(
      "Pet", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("owner", to: "Person", inverse: "pets")]),
  ])

  /// Employee {name required, at least 2 characters; salary, at least 0}; Department with at most 2 employees, deny.
  static let staff = ModelDescription(entities: [
    EntityDescription(
      "Employee",
      attributes: [
        AttributeDescription("name", .string, isOptional: false, validation: AttributeValidation(minimumLength: 2)),
        AttributeDescription("salary", .int32, validation: AttributeValidation(minimum: .integer(0))),
      ],
      relationships: [RelationshipDescription("department", to: "Department", inverse: "employees")]),
    EntityDescription(
      "Department", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription(
          "employees", toMany: "Employee", inverse: "department", maximumCount: 2, deleteRule: .deny)
      ]),
  ])

  /// Person {name, salary}.
  static let people = ModelDescription(entities: [
    EntityDescription(
      "Person", attributes: [AttributeDescription("name", .string), AttributeDescription("salary", .int32)])
  ])

  /// Every kind of relationship: between hierarchies, ordered, many-to-many, one-to-one, to itself, without an inverse.
  static let shapes = ModelDescription(entities: [
    EntityDescription(
      "Node", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("parent", to: "Node", inverse: "children"),
        RelationshipDescription("children", toMany: "Node", inverse: "parent", isOrdered: true),
        RelationshipDescription("friends", toMany: "Node", inverse: "friends"),
        RelationshipDescription("spouse", to: "Node", inverse: "spouse"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "nodes"),
        RelationshipDescription("ranked", toMany: "Tag", inverse: "rankers", isOrdered: true),
        RelationshipDescription("passport", to: "Passport", inverse: "holder", deleteRule: .cascade),
        RelationshipDescription("favourite", to: "Tag", inverse: nil),
      ]),
    EntityDescription(
      "Leaf", parent: "Node", attributes: [AttributeDescription("colour", .string)]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("label", .string)],
      relationships: [
        RelationshipDescription("nodes", toMany: "Node", inverse: "tags"),
        RelationshipDescription("rankers", toMany: "Node", inverse: "ranked"),
      ]),
    EntityDescription(
      "Passport", attributes: [AttributeDescription("number", .string)],
      relationships: [RelationshipDescription("holder", to: "Node", inverse: "passport")]),
  ])

  /// Node {name, rows ->> Row}; Row {name, owner, and a further relationship}.
  static func rows(
    ordered isOrdered: Bool, _ rule: DeleteRule, and further: RelationshipDescription
  ) -> ModelDescription {
    ModelDescription(entities: [
      EntityDescription(
        "Node", attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("rows", toMany: "Row", inverse: "owner", isOrdered: isOrdered, deleteRule: rule)
        ]),
      EntityDescription(
        "Row", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("owner", to: "Node", inverse: "rows"), further]),
    ])
  }

  /// One attribute of every type.
  static let types = ModelDescription(
    entities: [
      EntityDescription(
        "Sample",
        attributes: [
          AttributeDescription("int16", .int16), AttributeDescription("int32", .int32),
          AttributeDescription("int64", .int64), AttributeDescription("decimal", .decimal),
          AttributeDescription("double", .double), AttributeDescription("float", .float),
          AttributeDescription("string", .string), AttributeDescription("boolean", .boolean),
          AttributeDescription("date", .date), AttributeDescription("binary", .binary),
          AttributeDescription("external", .binary, allowsExternalStorage: true),
          AttributeDescription("uuid", .uuid), AttributeDescription("uri", .uri),
          AttributeDescription("transformable", .transformable),
          AttributeDescription("location", .composite, compositeName: "Point"),
          AttributeDescription("memory", .undefined, isTransient: true),
        ])
    ],
    composites: [
      CompositeDescription(
        "Point", elements: [AttributeDescription("x", .double), AttributeDescription("y", .double)])
    ])
}
