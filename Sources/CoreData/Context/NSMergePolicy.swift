public import Foundation
import Persist

public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

open class NSMergePolicy: NSObject, @unchecked Sendable {
  // Unchecked: policies are immutable; subclasses must be usable from every thread, as on Apple's platforms.
  public let mergeType: NSMergePolicyType

  public init(merge type: NSMergePolicyType) { mergeType = type }

  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

  var persistPolicy: MergePolicy {
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

  init(_ conflict: MergeConflict, of object: NSManagedObject) {
    sourceObject = object
    objectSnapshot = conflict.objectSnapshot.map(Self.snapshot)
    cachedSnapshot = conflict.cachedSnapshot.map(Self.snapshot)
    persistedSnapshot = conflict.persistedSnapshot.map(Self.snapshot)
    newVersionNumber = Int(conflict.newVersionNumber)
    oldVersionNumber = Int(conflict.oldVersionNumber)
  }

  private static func snapshot(_ values: [String: StoredValue]) -> [String: Any] {
    values.mapValues { FoundationValue.any($0) ?? NSNull() }
  }

  static func conflicts(in error: PersistenceError, in context: NSManagedObjectContext?) -> [NSMergeConflict]? {
    guard error.code == .mergeConflict, let context else { return nil }
    return error.mergeConflicts.compactMap { conflict in
      context.registeredObject(for: conflict.sourceObjectID).map { NSMergeConflict(conflict, of: $0) }
    }
  }
}
