import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Released objects, contexts and removed stores")
struct GoneTests {
  @Test("An object of a released context keeps the values it had read; everything else reads as empty")
  func contextGone() throws {
    try withStack(SampleModels.pets) { stack in
      let (read, fault, new): (ManagedObject, ManagedObject, ManagedObject)
      do {
        let context = stack.context()
        let ann = try context.make("Person", ["name": "Ann"])
        let rex = try context.make("Pet", ["name": "Rex", "owner": ann])
        try context.save()
        context.refreshAllObjects()
        (read, fault, new) = (ann, rex, try context.make("Pet", ["name": "Tom", "owner": ann]))
        #expect(read["name"] as? String == "Ann" && fault.isFault)
      }
      for object in [read, fault, new] {
        #expect(object.managedObjectContext == nil && !object.hasChanges)
        object["name"] = "other"
        #expect(object["name"] as? String == "other")
      }
      #expect(try read.many("pets").isEmpty && fault.one("owner") == nil && new.one("owner") == nil)
      #expect(!read.objectID.isTemporaryID && new.objectID.isTemporaryID && "\(fault)".contains("Pet"))
      read["pets"] = [ManagedObject]()
      try read.validateForUpdate()
    }
  }

  @Test("An object whose deletion was saved can be used safely, and isn't restored")
  func deleted() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.save()
      context.delete(ann)
      try context.save()
      #expect(!ann.isDeleted && ann.managedObjectContext == nil && ann["name"] as? String == "Ann")
      #expect(try ann.many("pets").isEmpty)
      ann["name"] = "other"
      context.delete(ann)
      context.refresh(ann, mergeChanges: true)
      try context.save()
      #expect(try context.count(for: FetchRequest("Person")) == 0)
      #expect(persistError { _ = try context.existingObject(with: ann.objectID) }?.code == .objectNotFound)
    }
  }

  @Test("A child whose parent was reset reads its objects as deleted, and its save is refused safely")
  func parentReset() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: ann.objectID)
      #expect(hers["name"] as? String == "Ann")
      parent.reset()
      hers["name"] = "Anna"
      #expect(persistError { try child.save() }?.code == .mergeConflict)
      child.rollback()
      child.refresh(hers, mergeChanges: false)
      #expect(hers["name"] == nil && hers.isDeleted && !parent.hasChanges)
    }
  }

  @Test("A store that was removed from its coordinator refuses reads and saves with errors")
  func storeRemoved() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann"])
      let bob = try context.make("Person", ["name": "Bob"])
      try context.save()
      context.refresh(bob, mergeChanges: false)
      let child = ManagedObjectContext(parent: context)
      try coordinator.remove(store)
      #expect(ann["name"] as? String == "Ann")
      #expect(bob["name"] == nil)
      #expect(persistError { try context.save() } != nil)
      ann["name"] = "Anna"
      #expect(persistError { try context.save() } != nil && context.hasChanges)
      #expect(try context.fetch(FetchRequest("Person")).isEmpty)
      #expect(try child.fetch(FetchRequest("Person")).isEmpty)
    }
  }

  @Test("A store whose file is removed fails with errors or continues with the open file; nothing crashes")
  func fileDeleted() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      context.refreshAllObjects()
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
      }
      _ = ann["name"]
      ann["name"] = "Anna"
      _ = persistError { try context.save() }
      _ = persistError { _ = try ManagedObjectContext(coordinator).fetch(FetchRequest("Person")) }
      context.rollback()
      #expect(!context.hasChanges)
    }
  }

  @Test("A store whose file becomes unwritable refuses the save, keeps the changes and stays intact")
  func fileDamaged() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      try coordinator.remove(store)
      // Permissions don't restrict a privileged user; a file in place of the store does.
      let content = try Data(contentsOf: url)
      try Data(repeating: 0x55, count: content.count).write(to: url)
      #expect(persistError { try coordinator.addStore(at: url) } != nil)
      #expect(coordinator.persistentStores.isEmpty && ann["name"] as? String == "Ann")
      ann["name"] = "Anna"
      #expect(persistError { try context.save() } != nil && context.hasChanges)
      try content.write(to: url)
      try coordinator.addStore(at: url)
      let reader = ManagedObjectContext(coordinator)
      #expect(try reader.names("Person") == ["Ann"])
    }
  }
}
