import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Format strings of public code")
struct TaskFormatTests {
  @Test("They have the expected results, from the store, in memory, printed and parsed again, and with unsaved changes")
  func find() throws {
    try withStack(Tasks.model) { stack in
      let context = stack.context()
      let tasks = try Tasks(in: context)
      for sample in TaskFormats.all where !sample.format.contains("objectID") {
        try check(sample, tasks, context, "unsaved")
      }
      try context.save()
      let entity = try context.entity(named: "Task")
      for sample in TaskFormats.all {
        try check(sample, tasks, context, "saved")
        let predicate = try FetchPredicate(sample.format, arguments: sample.arguments(tasks))
        _ = try PredicateAgreementTests.ask(predicate, over: entity, stack.store, tasks.tasks)
      }
      print("Asked \(TaskFormats.all.count) format strings of public code.")
    }
  }

  @Test("A property hides the one that all objects have under its name, in the store and in memory")
  func hidden() throws {
    let names = ["entity", "objectID", "self"]
    let model = ModelDescription(entities: [
      EntityDescription(
        "Entry", attributes: names.map { AttributeDescription($0, .string) },
        relationships: [RelationshipDescription("next", to: "Entry", inverse: nil)])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let first = try context.make("Entry", ["entity": "a", "objectID": "b", "self": "c"])
      try context.make("Entry", ["next": first])
      try context.save()
      let objects = try context.fetch(FetchRequest("Entry"))
      let entity = try context.entity(named: "Entry")
      for (name, value) in zip(names, ["a", "b", "c"]) {
        for path in [[name], ["next", name]] {
          let value = FetchExpression.value(value)
          for predicate in [
            FetchPredicate.compare(.path(of: .current, path), .equal, value),
            .compare(.path(of: .current, path), .beginsWith, value),
            .compare(.path(of: .current, path), .in, .aggregate([value])),
          ] {
            try #expect(FetchPredicate(predicate.format) == predicate)
            try #expect(PredicateAgreementTests.ask(predicate, over: entity, stack.store, objects) == 1, "\(predicate)")
          }
        }
      }
    }
  }

  private func check(_ sample: TaskFormats.Sample, _ tasks: Tasks, _ context: ManagedObjectContext, _ state: String)
    throws
  {
    do {
      let predicate = try FetchPredicate(sample.format, arguments: sample.arguments(tasks))
      #expect(try FetchPredicate(predicate.format) == predicate, "\(sample.format) → \(predicate.format)")
      let inMemory = try tasks.tasks.filter { try predicate.evaluate(with: $0) }
      #expect(keys(inMemory) == sample.found, "\(state), in memory: \(sample.format)")
      var request = FetchRequest<ManagedObject>("Task", sortedBy: "key")
      request.predicate = predicate
      try #expect(keys(context.fetch(request)) == sample.found, "\(state): \(sample.format)")
    } catch {
      Issue.record("\(state): \(sample.format): \(error)")
    }
  }

  private func keys(_ tasks: [ManagedObject]) -> String { tasks.map { $0["key"] as? String ?? "" }.joined() }
}
