public import Foundation
import Persist

public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

// Unchecked: policies are immutable; subclasses must be usable from every thread, as on Apple's platforms.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  public let mergeType: NSMergePolicyType

  public init(merge type: NSMergePolicyType) { mergeType = type }

  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

  /// Resolves conflicts of objects that other contexts changed. What an override leaves unresolved is resolved by
  /// applying the objects' changes to the store's values.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try standardPolicy.resolve(list.map(\.conflict), in: Self.context(of: list.first?.sourceObject))
  }

  /// Resolves conflicts of unique properties.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    try standardPolicy.resolve(list.map(\.conflict), in: Self.context(of: list.first?.conflictingObjects.first))
  }

  open func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    if !conflicts.isEmpty { try resolve(optimisticLockingConflicts: conflicts) }
    let constraints = list.compactMap { $0 as? NSConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  private static func context(of object: NSManagedObject?) throws -> ManagedObjectContext {
    if let context = object?.plain.managedObjectContext { return context }
    throw PersistenceError(.mergeConflict, "The objects of the conflict have left their context.")
  }

  /// The policy that a context saves with.
  var persistPolicy: MergePolicy {
    Swift.type(of: self) == NSMergePolicy.self ? standardPolicy : .custom(MergePolicyBridge(policy: self))
  }

  private var standardPolicy: MergePolicy {
    switch mergeType {
    case .errorMergePolicyType: .error
    case .mergeByPropertyStoreTrumpMergePolicyType: .mergeByPropertyStoreTrump
    case .mergeByPropertyObjectTrumpMergePolicyType: .mergeByPropertyObjectTrump
    case .overwriteMergePolicyType: .overwrite
    case .rollbackMergePolicyType: .rollback
    }
  }
}

// Core Data's global policies have the type Any.
nonisolated(unsafe) public let NSErrorMergePolicy: AnyObject = NSMergePolicy.error
nonisolated(unsafe) public let NSRollbackMergePolicy: AnyObject = NSMergePolicy.rollback
nonisolated(unsafe) public let NSOverwriteMergePolicy: AnyObject = NSMergePolicy.overwrite
nonisolated(unsafe) public let NSMergeByPropertyObjectTrumpMergePolicy: AnyObject =
  NSMergePolicy.mergeByPropertyObjectTrump
nonisolated(unsafe) public let NSMergeByPropertyStoreTrumpMergePolicy: AnyObject =
  NSMergePolicy.mergeByPropertyStoreTrump

/// An object that another context changed in the meantime.
open class NSMergeConflict: NSObject {
  public let sourceObject: NSManagedObject
  public let objectSnapshot: [String: Any]?
  public let cachedSnapshot: [String: Any]?
  public let persistedSnapshot: [String: Any]?
  public let newVersionNumber: Int
  public let oldVersionNumber: Int
  let conflict: MergeConflict

  init(_ conflict: MergeConflict, of object: NSManagedObject) {
    self.conflict = conflict
    sourceObject = object
    objectSnapshot = conflict.objectSnapshot.map(Self.snapshot)
    cachedSnapshot = conflict.cachedSnapshot.map(Self.snapshot)
    persistedSnapshot = conflict.persistedSnapshot.map(Self.snapshot)
    newVersionNumber = Int(conflict.newVersionNumber)
    oldVersionNumber = Int(conflict.oldVersionNumber)
  }

  fileprivate static func snapshot(_ values: [String: StoredValue]) -> [String: Any] {
    values.mapValues { FoundationValue.any($0) ?? NSNull() }
  }

  static func conflicts(in error: PersistenceError, in context: NSManagedObjectContext?) -> [NSMergeConflict]? {
    guard error.code == .mergeConflict, let context else { return nil }
    return error.mergeConflicts.compactMap { conflict in
      context.registeredObject(for: conflict.sourceObjectID).map { NSMergeConflict(conflict, of: $0) }
    }
  }
}

/// Objects with the same values of unique properties.
open class NSConstraintConflict: NSObject {
  public let constraint: [String]
  public let constraintValues: [String: Any]
  public let databaseObject: NSManagedObject?
  public let databaseSnapshot: [String: Any]?
  public let conflictingObjects: [NSManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]
  let conflict: ConstraintConflict

  init(_ conflict: ConstraintConflict, in context: NSManagedObjectContext) {
    self.conflict = conflict
    constraint = conflict.constraint
    constraintValues = conflict.constraintValues.mapValues { FoundationValue.any($0) ?? NSNull() }
    databaseObject = conflict.databaseObjectID.flatMap { try? context.existingObject(with: $0) }
    databaseSnapshot = conflict.databaseSnapshot.map(NSMergeConflict.snapshot)
    conflictingObjects = conflict.conflictingObjectIDs.compactMap { context.registeredObject(for: $0) }
    conflictingSnapshots = conflict.conflictingSnapshots.map { values in
      Dictionary(uniqueKeysWithValues: NSMergeConflict.snapshot(values).map { (AnyHashable($0), $1) })
    }
  }
}

/// Hands conflicts to a policy of an application's own.
private struct MergePolicyBridge: ConflictResolver {
  let policy: NSMergePolicy

  func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    let context = NSManagedObjectContext.of(context)
    try policy.resolve(mergeConflicts: conflicts.compactMap { conflict in
      context.registeredObject(for: conflict.sourceObjectID).map { NSMergeConflict(conflict, of: $0) }
    })
  }

  func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    let context = NSManagedObjectContext.of(context)
    try policy.resolve(mergeConflicts: conflicts.map { NSConstraintConflict($0, in: context) })
  }
}
