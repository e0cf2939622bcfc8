public import Foundation

// The parts of an error's user information, as Core Data's overlay names them.
extension CocoaError {
  /// The objects that the error is about.
  public var affectedObjects: [String]? { userInfo[NSAffectedObjectsErrorKey] as? [String] }
  /// The stores that the error is about.
  public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }
  /// The conflicts of the save.
  public var persistentStoreSaveConflicts: [NSMergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
  }
  /// The name of the property that broke a rule.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The object that broke a rule.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The rule.
  public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }
  /// The value that broke a rule.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
}
