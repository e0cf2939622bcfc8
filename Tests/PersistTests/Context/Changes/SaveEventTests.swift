import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Save events")
struct SaveEventTests {
  @Test("CHG-10: saving an insert, an update and a delete of one object posts it in the matching set only")
  func oneObject() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let events = EventRecorder(context)
      let person = try context.make("Person", ["name": "Ann"])
      try context.save()
      person["name"] = "Anna"
      try context.save()
      context.delete(person)
      try context.save()
      let counts = events.saves.map { [$0.inserted.count, $0.updated.count, $0.deleted.count] }
      #expect(counts == [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
      #expect(events.saves.allSatisfy { $0.inserted.union($0.updated).union($0.deleted) == [person] })
      #expect(events.saves.last?.savedChanges.deletedObjectIDs == [person.objectID])
    }
  }

  @Test("CHG-10: two inserts, a change and a delete in one save; the posted identifiers are permanent")
  func identifiers() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person"), try context.make("Person"))
      try context.save()
      let events = EventRecorder(context)
      let new = [try context.make("Person"), try context.make("Person")]
      ann["name"] = "Ann"
      context.delete(ben)
      try context.save()
      let changes = try #require(events.saves.first?.savedChanges)
      #expect(changes.insertedObjectIDs == Set(new.map(\.objectID)))
      #expect(changes.insertedObjectIDs.allSatisfy { !$0.isTemporaryID })
      #expect(changes.updatedObjectIDs == [ann.objectID] && changes.deletedObjectIDs == [ben.objectID])
    }
  }

  @Test("CHG-14: a save without changes posts its notifications with empty sets, and writes nothing")
  func emptySave() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let events = EventRecorder(context)
      try context.save()
      #expect(events.order == ["willSave", "didSave"])
      #expect(events.saves.first?.savedChanges.isEmpty == true)
      #expect(stack.store.commits.isEmpty)
    }
  }

  @Test("A failing save posts only that it began")
  func failedSave() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      try context.make("Employee")
      let events = EventRecorder(context)
      #expect(persistError { try context.save() }?.code == .validationMissingRequired)
      #expect(events.order == ["change", "willSave"])
    }
  }

  /// Notifications reach an observer through a closure that the compiler considers concurrent; they are posted on the
  /// test's own thread.
  private final class Posts: @unchecked Sendable {
    // Safe because posting is synchronous: only the test's own thread calls the observer.
    var received: [(name: Notification.Name, counts: [String: Int])] = []
  }

  @Test("Notifications have Core Data's keys: objects of changes and saves, and identifiers")
  func notifications() throws {
    try withStack(SampleModels.people) { stack in
      let posts = Posts()
      let names = [
        ManagedObjectContext.didChangeObjectsNotification, ManagedObjectContext.willSaveObjectsNotification,
        ManagedObjectContext.didSaveObjectsNotification, ManagedObjectContext.didSaveObjectIDsNotification,
      ]
      let context = stack.context()
      let tokens = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
          var counts: [String: Int] = [:]
          for key in ManagedObjectContext.NotificationKey.allCases {
            let value = note.userInfo?[key.rawValue]
            counts[key.rawValue] = (value as? Set<ManagedObject>)?.count ?? (value as? Set<ManagedObjectID>)?.count
          }
          posts.received.append((note.name, counts))
        }
      }
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      try context.make("Person")
      try context.save()
      #expect(posts.received.map(\.name) == names)
      #expect(
        posts.received.map(\.counts) == [
          ["inserted": 1], [:], ["inserted": 1, "updated": 0, "deleted": 0],
          ["inserted_objectIDs": 1, "updated_objectIDs": 0, "deleted_objectIDs": 0],
        ])
    }
  }
}
