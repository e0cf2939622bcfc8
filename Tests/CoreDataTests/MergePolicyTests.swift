import CoreData
import Foundation
import Testing

@Suite("Merge policies of Core Data's")
struct MergePolicyTests {
  private let folder: StoreFolder
  private let first: NSManagedObjectContext
  private let second: NSManagedObjectContext

  init() throws {
    folder = try StoreFolder()
    first = try .opening(folder.store(), TestModels.staff())
    second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    second.persistentStoreCoordinator = first.persistentStoreCoordinator
  }

  /// The same row in both contexts, changed by the first one.
  private func conflict(
    _ change: (NSManagedObject) -> Void = { $0.setValue("FromFirst", forKey: "name"); $0.setValue(50, forKey: "salary") }
  ) throws -> NSManagedObject {
    let alice = first.employee("Alice", 10)
    try first.save()
    let same = try second.existingObject(with: alice.objectID)
    _ = same.value(forKey: "name")
    change(alice)
    try first.save()
    same.setValue("FromSecond", forKey: "name")
    return same
  }

  private func stored() throws -> [String] {
    let context = try NSManagedObjectContext.opening(folder.store(), TestModels.staff())
    return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee"))
      .map { "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "salary") ?? "")" }
  }

  @Test("The global policies are those of the class, with their types")
  func kinds() {
    #expect((NSErrorMergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
    #expect((NSRollbackMergePolicy as? NSMergePolicy)?.mergeType == .rollbackMergePolicyType)
    #expect((NSOverwriteMergePolicy as? NSMergePolicy)?.mergeType == .overwriteMergePolicyType)
    #expect(
      (NSMergeByPropertyObjectTrumpMergePolicy as? NSMergePolicy)?.mergeType
        == .mergeByPropertyObjectTrumpMergePolicyType)
    #expect(
      (NSMergeByPropertyStoreTrumpMergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyStoreTrumpMergePolicyType)
    #expect((first.mergePolicy as? NSMergePolicy) === NSMergePolicy.error)
  }

  @Test("Errors have the conflict with its snapshots")
  func error() throws {
    let same = try conflict()
    #expect { try second.save() } throws: { error in
      let error = error as NSError
      guard let conflict = (error.userInfo["conflictList"] as? [NSMergeConflict])?.first else { return false }
      return error.code == NSManagedObjectMergeError && conflict.sourceObject === same
        && conflict.objectSnapshot?["name"] as? String == "Alice"
        && conflict.cachedSnapshot?["name"] as? String == "FromFirst" && conflict.persistedSnapshot == nil
        && conflict.newVersionNumber > conflict.oldVersionNumber
    }
    #expect(second.hasChanges)
  }

  @Test(
    "Each policy decides which values are saved",
    arguments: [
      (NSMergePolicy.mergeByPropertyObjectTrump, "FromSecond 50"), (.mergeByPropertyStoreTrump, "FromFirst 50"),
      (.overwrite, "FromSecond 10"), (.rollback, "FromFirst 50"),
    ])
  func results(policy: NSMergePolicy, expected: String) throws {
    let same = try conflict()
    second.mergePolicy = policy
    try second.save()
    #expect(try stored() == [expected])
    #expect("\(same.value(forKey: "name") ?? "") \(same.value(forKey: "salary") ?? "")" == expected)
    #expect(!second.hasChanges)
  }

  @Test("An object that was deleted in the meantime is a conflict, too")
  func deleted() throws {
    let same = try conflict { $0.managedObjectContext?.delete($0) }
    #expect { try second.save() } throws: { ($0 as NSError).code == NSManagedObjectMergeError }
    second.mergePolicy = NSRollbackMergePolicy
    try second.save()
    #expect(try stored().isEmpty)
    #expect(same.managedObjectContext == nil || same.isDeleted || same.isFault)
  }

  private final class Recorder: NSMergePolicy, @unchecked Sendable {
    private(set) var conflicts = 0

    override func resolve(mergeConflicts list: [Any]) throws {
      conflicts += list.count
      try super.resolve(mergeConflicts: list)
    }
  }

  private final class Refusing: NSMergePolicy, @unchecked Sendable {
    struct Refused: Error {}

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws { throw Refused() }
  }

  @Test("A policy of one's own sees the conflicts and may leave them to its kind")
  func own() throws {
    _ = try conflict()
    let policy = Recorder(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    second.mergePolicy = policy
    try second.save()
    #expect(policy.conflicts == 1)
    #expect(try stored() == ["FromFirst 50"])
  }

  @Test("The error of a policy of one's own is the save's error")
  func ownError() throws {
    _ = try conflict()
    second.mergePolicy = Refusing(merge: .errorMergePolicyType)
    #expect(throws: Refusing.Refused.self) { try second.save() }
  }

  @Test("Inserts of another context are no conflict")
  func inserts() throws {
    first.employee("Alice", 1)
    try first.save()
    second.employee("Bob", 2)
    try second.save()
    #expect(try stored().count == 2)
  }
}
