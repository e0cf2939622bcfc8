import Foundation

@testable import Persist
@testable import PersistModel

/// The objects that the samples refer to.
struct Tasks {
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Task",
      attributes: [
        AttributeDescription("key", .string), AttributeDescription("name", .string),
        AttributeDescription("notes", .string),
        AttributeDescription("priority", .int16), AttributeDescription("flags", .int32),
        AttributeDescription("done", .boolean),
        AttributeDescription("due", .date), AttributeDescription("created", .date),
        AttributeDescription("effort", .double),
        AttributeDescription("cost", .decimal), AttributeDescription("uid", .uuid), AttributeDescription("link", .uri),
        AttributeDescription("first", .int16), AttributeDescription("size", .int16),
        AttributeDescription("order", .int16),
        AttributeDescription("in", .boolean),
      ],
      relationships: [
        RelationshipDescription("project", to: "Project", inverse: "tasks"),
        RelationshipDescription("assignee", to: "Person", inverse: "tasks"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "tasks"),
        RelationshipDescription("parent", to: "Task", inverse: "subtasks"),
        RelationshipDescription("subtasks", toMany: "Task", inverse: "parent"),
      ]),
    EntityDescription("Urgent", parent: "Task", attributes: [AttributeDescription("level", .int16)]),
    EntityDescription(
      "Project",
      attributes: [
        AttributeDescription("title", .string), AttributeDescription("code", .int64),
        AttributeDescription("archived", .boolean),
      ],
      relationships: [
        RelationshipDescription("tasks", toMany: "Task", inverse: "project"),
        RelationshipDescription("owner", to: "Person", inverse: "projects"),
      ]),
    EntityDescription(
      "Person",
      attributes: [
        AttributeDescription("firstName", .string), AttributeDescription("lastName", .string),
        AttributeDescription("email", .string),
        AttributeDescription("nick", .string), AttributeDescription("age", .int16),
      ],
      relationships: [
        RelationshipDescription("tasks", toMany: "Task", inverse: "assignee"),
        RelationshipDescription("projects", toMany: "Project", inverse: "owner"),
      ]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string), AttributeDescription("rank", .int16)],
      relationships: [RelationshipDescription("tasks", toMany: "Task", inverse: "tags")]),
  ])

  let home: ManagedObject
  let red: ManagedObject
  private let byKey: [String: ManagedObject]
  let uidText = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
  var uid: [UUID?] { [UUID(uuidString: uidText)] }

  /// A date the given number of days after the first task is due.
  func date(_ days: Double) -> Date { Self.date(days) }

  private static func date(_ days: Double) -> Date { Date(timeIntervalSinceReferenceDate: 789_696_000 + days * 86400) }

  subscript(_ key: String) -> ManagedObject {
    guard let task = byKey[key] else { preconditionFailure("There is no task '\(key)'.") }
    return task
  }

  /// All tasks in order.
  var tasks: [ManagedObject] { byKey.sorted { $0.key < $1.key }.map(\.value) }

  init(in context: ManagedObjectContext) throws {
    let ann = try context.make(
      "Person", ["firstName": "Ann", "lastName": "Müller", "email": "ann@example.com", "age": 34])
    let bob = try context.make(
      "Person", ["firstName": "Bob", "lastName": "O'Neill", "email": "bob@test.org", "age": 17, "nick": "bobby"])
    let cid = try context.make("Person", ["firstName": "Cid", "lastName": "Ågren", "age": 65, "nick": ""])
    let home = try context.make("Project", ["title": "Home", "code": 7, "archived": false, "owner": ann])
    let work = try context.make("Project", ["title": "Work & Play", "code": 31, "archived": true, "owner": bob])
    let (red, green) = (
      try context.make("Tag", ["name": "red", "rank": 1]), try context.make("Tag", ["name": "green", "rank": 2])
    )
    let blue = try context.make("Tag", ["name": "blue", "rank": 3])
    func task(_ values: KeyValuePairs<String, Any?>, _ tags: Set<ManagedObject>, as entity: String = "Task") throws
      -> ManagedObject
    {
      let task = try context.make(entity, values)
      try task.setValue(tags, forKey: "tags")
      try task.setValue(Self.date(-5), forKey: "created")
      return task
    }
    let a = try task(
      [
        "key": "a", "name": "Buy green tea", "priority": 1, "flags": 1, "done": false, "due": Self.date(0),
        "effort": 0.5,
        "cost": Decimal(string: "10.11"), "uid": UUID(uuidString: uidText),
        "link": URL(string: "https://example.com/a"), "project": home,
        "assignee": ann, "first": 1, "size": 2,
      ], [red, green])
    let b = try task(
      [
        "key": "b", "name": "Café crème", "notes": "it's \"quoted\"", "priority": 2, "flags": 2, "done": true,
        "due": Self.date(22),
        "effort": 1.5, "cost": Decimal(3), "project": home, "assignee": bob, "in": true,
      ], [])
    let c = try task(
      [
        "key": "c", "name": "CAFE", "notes": "", "priority": 2, "flags": 4, "done": false, "effort": 3.0,
        "project": work,
      ], [blue])
    let d = try task(
      [
        "key": "d", "name": "Call O'Neill", "notes": "a*b?c", "priority": 5, "flags": 5, "done": false,
        "due": Self.date(54), "effort": 12.0,
        "cost": Decimal(100), "project": work, "assignee": cid, "parent": a, "level": 9,
      ], [red, blue], as: "Urgent")
    let e = try task(
      [
        "key": "e", "name": "résumé.PDF", "notes": "line1\nline2", "priority": 0, "flags": 0, "done": true,
        "due": Self.date(0), "effort": -1.0,
        "cost": Decimal(string: "0.1"), "assignee": ann, "parent": a,
      ], [green])
    let f = try task(
      [
        "key": "f", "notes": "50% off", "priority": 3, "flags": 8, "done": false, "effort": 0.0, "parent": d,
        "order": 6,
      ], [])
    (self.home, self.red) = (home, red)
    byKey = ["a": a, "b": b, "c": c, "d": d, "e": e, "f": f]
  }
}
