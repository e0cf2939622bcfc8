@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Saved alpha 22, bravo 25, charlie 10; then, unsaved: alpha 5, charlie 21, bravo deleted, delta 30, echo 40.
func withDirtyPeople(_ body: (ManagedObjectContext) throws -> Void) throws {
  try withStack(SampleModels.people) { stack in
    let context = stack.context()
    let saved = try [("alpha", 22), ("bravo", 25), ("charlie", 10)].map {
      try context.make("Person", ["name": $0.0, "salary": $0.1])
    }
    try context.save()
    saved[0]["salary"] = 5
    saved[2]["salary"] = 21
    context.delete(saved[1])
    try context.make("Person", ["name": "delta", "salary": 30])
    try context.make("Person", ["name": "echo", "salary": 40])
    try body(context)
  }
}

/// The names of objects, in their order.
func names(_ objects: [ManagedObject]) -> [String] { objects.compactMap { $0["name"] as? String } }
