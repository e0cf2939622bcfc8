import Foundation
import Persist

/// The settings of a context that may be changed before it is used.
struct ContextSettings {
  var coordinator: NSPersistentStoreCoordinator?
  var parent: NSManagedObjectContext?
  var mergePolicy = NSMergePolicy.error
  var name: String?
  var transactionAuthor: String?
  var shouldDeleteInaccessibleFaults = true
  var retainsRegisteredObjects = false
  var mergesAutomatically = false
}

/// Leads from a context of Persist's to the one that wraps it.
final class ContextLink {
  static let key = "CoreData.NSManagedObjectContext"
  private weak var wrapper: NSManagedObjectContext?
  private let owner: NSManagedObjectContext?

  var context: NSManagedObjectContext? { wrapper }

  init(_ context: NSManagedObjectContext) {
    wrapper = context
    owner = nil
  }

  /// A context of Persist's owns its wrapper, because nothing else does.
  init(owner context: NSManagedObjectContext) {
    wrapper = context
    owner = context
  }
}
