import Foundation
import Persist

/// Turns Persist's errors into those of Core Data.
enum CocoaErrors {
  /// The key of Persist's error in the user information.
  static let persistErrorKey = "PersistenceError"

  static func error(_ error: any Error, in context: NSManagedObjectContext? = nil) -> any Error {
    guard let error = error as? PersistenceError else { return error }
    if let own = error.ownError { return own }
    return nsError(error, in: context)
  }

  private static func nsError(_ error: PersistenceError, in context: NSManagedObjectContext?) -> NSError {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description(of: error), persistErrorKey: error]
    info[NSLocalizedRecoverySuggestionErrorKey] = error.fix
    if let url = error.place.store ?? error.place.file { info[NSFilePathErrorKey] = url.path }
    if let failure = error.validationFailure {
      info[NSValidationKeyErrorKey] = failure.key
      info[NSValidationValueErrorKey] = FoundationValue.any(failure.value)
      info[NSValidationPredicateErrorKey] = failure.predicate.map { NSPredicate(format: $0) }
      info[NSValidationObjectErrorKey] = failure.objectID.flatMap { context?.registeredObject(for: $0) }
    }
    if code(of: error.code) == NSPersistentStoreIncompatibleVersionHashError {
      info["reason"] = "The model used to open the store is incompatible with the one used to create the store"
      info["metadata"] = error.place.store.flatMap { url in
        (try? PersistentStoreCoordinator.metadata(at: url)).map(MetadataDictionary.dictionary)
      }
    }
    if !error.errors.isEmpty {
      let details = error.errors.flatMap { flattened(self.error($0, in: context)) }
      info[NSDetailedErrorsKey] = details
      info[NSUnderlyingErrorKey] = details[0]
    }
    if let conflicts = NSMergeConflict.conflicts(in: error, in: context) {
      info[NSPersistentStoreSaveConflictsErrorKey] = conflicts
    }
    if !error.constraintConflicts.isEmpty, let context {
      info[NSPersistentStoreSaveConflictsErrorKey] = error.constraintConflicts.map {
        NSConstraintConflict($0, in: context)
      }
    }
    return NSError(domain: NSCocoaErrorDomain, code: code(of: error), userInfo: info)
  }

  /// The errors that an object's validation combined, one by one.
  private static func flattened(_ error: any Error) -> [any Error] {
    let info = (error as NSError).userInfo
    guard (error as NSError).code == NSValidationMultipleErrorsError,
      let details = info[NSDetailedErrorsKey] as? [any Error]
    else { return [error] }
    return details
  }

  private static func description(of error: PersistenceError) -> String {
    error.errorDescription ?? error.message
  }

  private static func code(of error: PersistenceError) -> Int {
    if [.fileAccess, .storeOpenFailed].contains(error.code), let file = error.place.store ?? error.place.file,
      !FileManager.default.fileExists(atPath: file.path)
    {
      return CocoaError.Code.fileReadNoSuchFile.rawValue
    }
    return code(of: error.code)
  }

  /// Persist's own codes as the nearest ones of Core Data or Foundation.
  private static func code(of code: PersistenceError.Code) -> Int {
    switch code {
    case .storeBusy, .connectionLost: NSPersistentStoreTimeoutError
    case .diskFull: CocoaError.Code.fileWriteOutOfSpace.rawValue
    case .storeDamaged, .notAStore, .malformedFile: CocoaError.Code.fileReadCorruptFile.rawValue
    case .storeReadOnly: CocoaError.Code.fileWriteNoPermission.rawValue
    case .fileAccess: CocoaError.Code.fileReadUnknown.rawValue
    case .modelNotFound: NSManagedObjectModelReferenceNotFoundError
    case .invalidPredicate, .invalidRequest, .unknownEntity, .unknownProperty: NSPersistentStoreOperationError
    case .newerStore: NSPersistentStoreIncompatibleSchemaError
    case .sqlite, .serverFailed: NSSQLiteError
    default: code.rawValue >= 900_000 ? NSCoreDataError : code.rawValue
    }
  }
}

/// Runs a block and turns its errors into those of Core Data.
func bridging<Result>(in context: NSManagedObjectContext? = nil, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch { throw CocoaErrors.error(error, in: context) }
}

extension NSManagedObjectContext {
  func bridging<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw CocoaErrors.error(error, in: self) }
  }
}
