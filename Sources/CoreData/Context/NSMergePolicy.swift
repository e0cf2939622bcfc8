public import Foundation
import Persist

/// The ways to resolve conflicts.
public enum NSMergePolicyType: UInt, Sendable {
  /// Conflicts are errors.
  case errorMergePolicyType = 0
  /// Each property that both sides changed takes the store's value.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Each property that both sides changed takes the object's value.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// The whole object overwrites the row.
  case overwriteMergePolicyType = 3
  /// The whole row overwrites the object.
  case rollbackMergePolicyType = 4
}

// Unchecked: policies are immutable; subclasses must be usable from every thread, as on Apple's platforms.
/// A rule for conflicts between a context's changes and those that others have saved. Subclasses override the methods
/// that resolve.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  /// The way that ``resolve(optimisticLockingConflicts:)`` resolves conflicts.
  public let mergeType: NSMergePolicyType

  /// Creates a policy of a kind.
  public init(merge type: NSMergePolicyType) { mergeType = type }

  /// Conflicts are errors.
  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// The row overwrites the object.
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  /// The object overwrites the row.
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// Properties that both sides changed take the object's values.
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// Properties that both sides changed take the store's values.
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

  /// Resolves conflicts of any kind by calling the methods for each kind.
  ///
  /// - Throws: The error that the save throws.
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

// Unsafe: constants whose policies are immutable. Core Data's have the type Any; AnyObject isn't Sendable either.
/// The policy ``NSMergePolicy/error``.
nonisolated(unsafe) public let NSErrorMergePolicy: AnyObject = NSMergePolicy.error
/// The policy ``NSMergePolicy/rollback``.
nonisolated(unsafe) public let NSRollbackMergePolicy: AnyObject = NSMergePolicy.rollback
/// The policy ``NSMergePolicy/overwrite``.
nonisolated(unsafe) public let NSOverwriteMergePolicy: AnyObject = NSMergePolicy.overwrite
/// The policy ``NSMergePolicy/mergeByPropertyObjectTrump``.
nonisolated(unsafe) public let NSMergeByPropertyObjectTrumpMergePolicy: AnyObject =
  NSMergePolicy.mergeByPropertyObjectTrump
/// The policy ``NSMergePolicy/mergeByPropertyStoreTrump``.
nonisolated(unsafe) public let NSMergeByPropertyStoreTrumpMergePolicy: AnyObject =
  NSMergePolicy.mergeByPropertyStoreTrump

/// An object that another context changed in the meantime.
open class NSMergeConflict: NSObject {
  /// The context's object.
  public let sourceObject: NSManagedObject
  /// The values that the context last read or saved.
  public let objectSnapshot: [String: Any]?
  /// The values in the coordinator's cache of rows; nil without a conflict with it.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store; nil if the conflict is one with the cache of rows.
  public let persistedSnapshot: [String: Any]?
  /// The row's version in the store; 0 if it was deleted.
  public let newVersionNumber: Int
  /// The row's version when the context read it.
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
  /// The names of the properties that are unique together.
  public let constraint: [String]
  /// The values that several objects have.
  public let constraintValues: [String: Any]
  /// The object whose row has the values; nil if all of them are new.
  public let databaseObject: NSManagedObject?
  /// The values of that row.
  public let databaseSnapshot: [String: Any]?
  /// The context's objects with these values.
  public let conflictingObjects: [NSManagedObject]
  /// The values that the context last read or saved, for each of the objects.
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
