public import Foundation

// The codes of errors in the domain `NSCocoaErrorDomain`.
/// The least code of validation errors.
public let NSValidationErrorMinimum = 1024
/// The greatest code of validation errors.
public let NSValidationErrorMaximum = 2047
/// A property breaks a rule.
public let NSManagedObjectValidationError = 1550
/// A uniqueness constraint is broken.
public let NSManagedObjectConstraintValidationError = 1551
/// Several rules are broken, each with an error under ``NSDetailedErrorsKey``.
public let NSValidationMultipleErrorsError = 1560
/// A required property has no value.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A relationship has too few objects.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A relationship has too many objects.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// An object has related objects that deny its deletion.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is too large.
public let NSValidationNumberTooLargeError = 1610
/// A number is too small.
public let NSValidationNumberTooSmallError = 1620
/// A date is too late.
public let NSValidationDateTooLateError = 1630
/// A date is too early.
public let NSValidationDateTooSoonError = 1640
/// A date is invalid.
public let NSValidationInvalidDateError = 1650
/// A text is too long.
public let NSValidationStringTooLongError = 1660
/// A text is too short.
public let NSValidationStringTooShortError = 1670
/// A text doesn't match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI is invalid.
public let NSValidationInvalidURIError = 1690
/// A context can't be locked.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator can't be locked.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// There is no such object.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship leads to an object of another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// Others have changed the object.
public let NSManagedObjectMergeError = 133020
/// Several objects have the same values of unique properties.
public let NSManagedObjectConstraintMergeError = 133021
/// There is no such type of stores.
public let NSPersistentStoreInvalidTypeError = 134000
/// A store has another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// A store's tables don't fit the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A save failed.
public let NSPersistentStoreSaveError = 134030
/// A save succeeded only in some stores.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save has conflicts.
public let NSPersistentStoreSaveConflictsError = 134050
/// An error without another code.
public let NSCoreDataError = 134060
/// A request failed.
public let NSPersistentStoreOperationError = 134070
/// A store can't be opened.
public let NSPersistentStoreOpenError = 134080
/// A store was busy for too long.
public let NSPersistentStoreTimeoutError = 134090
/// A request can't be executed.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// A store has another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// A migration failed.
public let NSMigrationError = 134110
/// A migration broke a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// A migration was canceled.
public let NSMigrationCancelledError = 134120
/// The model of a store's version is missing.
public let NSMigrationMissingSourceModelError = 134130
/// There is no mapping model between two versions.
public let NSMigrationMissingMappingModelError = 134140
/// The source of a migration can't be read.
public let NSMigrationManagerSourceStoreError = 134150
/// The destination of a migration can't be written.
public let NSMigrationManagerDestinationStoreError = 134160
/// A migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// SQLite failed.
public let NSSQLiteError = 134180
/// No mapping model can be inferred.
public let NSInferredMappingModelError = 134190
/// Records of another program can't be imported.
public let NSExternalRecordImportError = 134200
/// The history after a token was deleted.
public let NSPersistentHistoryTokenExpiredError = 134301
/// The model of a stage is missing.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A staged migration was made with another version of the framework.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A staged migration would lead to an older version.
public let NSStagedMigrationBackwardMigrationError = 134506

// The keys of their user information.
/// The key of the errors that an error combines.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The key of the object that broke a rule.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The key of the property that broke a rule.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The key of the rule.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The key of the value that broke a rule.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of the stores of an error.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The key of the objects of an error.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The key of the conflicts of a save: ``NSMergeConflict`` or ``NSConstraintConflict``.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's own codes.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension CocoaError.Code {
  /// The code ``NSManagedObjectValidationError``.
  public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
  /// The code ``NSManagedObjectConstraintValidationError``.
  public static let managedObjectConstraintValidation =
    CocoaError.Code(rawValue: NSManagedObjectConstraintValidationError)
  /// The code ``NSValidationMultipleErrorsError``.
  public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
  /// The code ``NSValidationMissingMandatoryPropertyError``.
  public static let validationMissingMandatoryProperty =
    CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
  /// The code ``NSValidationRelationshipLacksMinimumCountError``.
  public static let validationRelationshipLacksMinimumCount =
    CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
  /// The code ``NSValidationRelationshipExceedsMaximumCountError``.
  public static let validationRelationshipExceedsMaximumCount =
    CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  /// The code ``NSValidationRelationshipDeniedDeleteError``.
  public static let validationRelationshipDeniedDelete =
    CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
  /// The code ``NSValidationNumberTooLargeError``.
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
  /// The code ``NSValidationNumberTooSmallError``.
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
  /// The code ``NSValidationDateTooLateError``.
  public static let validationDateTooLate = CocoaError.Code(rawValue: NSValidationDateTooLateError)
  /// The code ``NSValidationDateTooSoonError``.
  public static let validationDateTooSoon = CocoaError.Code(rawValue: NSValidationDateTooSoonError)
  /// The code ``NSValidationInvalidDateError``.
  public static let validationInvalidDate = CocoaError.Code(rawValue: NSValidationInvalidDateError)
  /// The code ``NSValidationStringTooLongError``.
  public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
  /// The code ``NSValidationStringTooShortError``.
  public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
  /// The code ``NSValidationStringPatternMatchingError``.
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: NSValidationStringPatternMatchingError)
  /// The code ``NSValidationInvalidURIError``.
  public static let validationInvalidURI = CocoaError.Code(rawValue: NSValidationInvalidURIError)
  /// The code ``NSManagedObjectContextLockingError``.
  public static let managedObjectContextLocking = CocoaError.Code(rawValue: NSManagedObjectContextLockingError)
  /// The code ``NSPersistentStoreCoordinatorLockingError``.
  public static let persistentStoreCoordinatorLocking =
    CocoaError.Code(rawValue: NSPersistentStoreCoordinatorLockingError)
  /// The code ``NSManagedObjectReferentialIntegrityError``.
  public static let managedObjectReferentialIntegrity =
    CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
  /// The code ``NSManagedObjectExternalRelationshipError``.
  public static let managedObjectExternalRelationship =
    CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
  /// The code ``NSManagedObjectMergeError``.
  public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
  /// The code ``NSManagedObjectConstraintMergeError``.
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
  /// The code ``NSPersistentStoreInvalidTypeError``.
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
  /// The code ``NSPersistentStoreTypeMismatchError``.
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
  /// The code ``NSPersistentStoreIncompatibleSchemaError``.
  public static let persistentStoreIncompatibleSchema =
    CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
  /// The code ``NSPersistentStoreSaveError``.
  public static let persistentStoreSave = CocoaError.Code(rawValue: NSPersistentStoreSaveError)
  /// The code ``NSPersistentStoreIncompleteSaveError``.
  public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError)
  /// The code ``NSPersistentStoreSaveConflictsError``.
  public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError)
  /// The code ``NSCoreDataError``.
  public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
  /// The code ``NSPersistentStoreOperationError``.
  public static let persistentStoreOperation = CocoaError.Code(rawValue: NSPersistentStoreOperationError)
  /// The code ``NSPersistentStoreOpenError``.
  public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
  /// The code ``NSPersistentStoreTimeoutError``.
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
  /// The code ``NSPersistentStoreUnsupportedRequestTypeError``.
  public static let persistentStoreUnsupportedRequestType =
    CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  /// The code ``NSPersistentStoreIncompatibleVersionHashError``.
  public static let persistentStoreIncompatibleVersionHash =
    CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  /// The code ``NSMigrationError``.
  public static let migration = CocoaError.Code(rawValue: NSMigrationError)
  /// The code ``NSMigrationConstraintViolationError``.
  public static let migrationConstraintViolation = CocoaError.Code(rawValue: NSMigrationConstraintViolationError)
  /// The code ``NSMigrationCancelledError``.
  public static let migrationCancelled = CocoaError.Code(rawValue: NSMigrationCancelledError)
  /// The code ``NSMigrationMissingSourceModelError``.
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
  /// The code ``NSMigrationMissingMappingModelError``.
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
  /// The code ``NSMigrationManagerSourceStoreError``.
  public static let migrationManagerSourceStore = CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError)
  /// The code ``NSMigrationManagerDestinationStoreError``.
  public static let migrationManagerDestinationStore =
    CocoaError.Code(rawValue: NSMigrationManagerDestinationStoreError)
  /// The code ``NSEntityMigrationPolicyError``.
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: NSEntityMigrationPolicyError)
  /// The code ``NSSQLiteError``.
  public static let sqlite = CocoaError.Code(rawValue: NSSQLiteError)
  /// The code ``NSInferredMappingModelError``.
  public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
  /// The code ``NSExternalRecordImportError``.
  public static let externalRecordImport = CocoaError.Code(rawValue: NSExternalRecordImportError)
  /// The code ``NSPersistentHistoryTokenExpiredError``.
  public static let persistentHistoryTokenExpired = CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError)
  /// The code ``NSManagedObjectModelReferenceNotFoundError``.
  public static let managedObjectModelReferenceNotFound =
    CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError)
  /// The code ``NSStagedMigrationFrameworkVersionMismatchError``.
  public static let stagedMigrationFrameworkVersionMismatch =
    CocoaError.Code(rawValue: NSStagedMigrationFrameworkVersionMismatchError)
  /// The code ``NSStagedMigrationBackwardMigrationError``.
  public static let stagedMigrationBackwardMigration =
    CocoaError.Code(rawValue: NSStagedMigrationBackwardMigrationError)
}

extension CocoaError {
  /// The code ``NSManagedObjectValidationError``.
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  /// The code ``NSManagedObjectConstraintValidationError``.
  public static var managedObjectConstraintValidation: CocoaError.Code { .managedObjectConstraintValidation }
  /// The code ``NSValidationMultipleErrorsError``.
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  /// The code ``NSValidationMissingMandatoryPropertyError``.
  public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
  /// The code ``NSValidationRelationshipLacksMinimumCountError``.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// The code ``NSValidationRelationshipExceedsMaximumCountError``.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// The code ``NSValidationRelationshipDeniedDeleteError``.
  public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
  /// The code ``NSValidationNumberTooLargeError``.
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  /// The code ``NSValidationNumberTooSmallError``.
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  /// The code ``NSValidationDateTooLateError``.
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  /// The code ``NSValidationDateTooSoonError``.
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  /// The code ``NSValidationInvalidDateError``.
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  /// The code ``NSValidationStringTooLongError``.
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  /// The code ``NSValidationStringTooShortError``.
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  /// The code ``NSValidationStringPatternMatchingError``.
  public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
  /// The code ``NSValidationInvalidURIError``.
  public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
  /// The code ``NSManagedObjectContextLockingError``.
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  /// The code ``NSPersistentStoreCoordinatorLockingError``.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
  /// The code ``NSManagedObjectReferentialIntegrityError``.
  public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
  /// The code ``NSManagedObjectExternalRelationshipError``.
  public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
  /// The code ``NSManagedObjectMergeError``.
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  /// The code ``NSManagedObjectConstraintMergeError``.
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  /// The code ``NSPersistentStoreInvalidTypeError``.
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  /// The code ``NSPersistentStoreTypeMismatchError``.
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  /// The code ``NSPersistentStoreIncompatibleSchemaError``.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
  /// The code ``NSPersistentStoreSaveError``.
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  /// The code ``NSPersistentStoreIncompleteSaveError``.
  public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
  /// The code ``NSPersistentStoreSaveConflictsError``.
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  /// The code ``NSCoreDataError``.
  public static var coreData: CocoaError.Code { .coreData }
  /// The code ``NSPersistentStoreOperationError``.
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  /// The code ``NSPersistentStoreOpenError``.
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  /// The code ``NSPersistentStoreTimeoutError``.
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  /// The code ``NSPersistentStoreUnsupportedRequestTypeError``.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
  /// The code ``NSPersistentStoreIncompatibleVersionHashError``.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { .persistentStoreIncompatibleVersionHash }
  /// The code ``NSMigrationError``.
  public static var migration: CocoaError.Code { .migration }
  /// The code ``NSMigrationConstraintViolationError``.
  public static var migrationConstraintViolation: CocoaError.Code { .migrationConstraintViolation }
  /// The code ``NSMigrationCancelledError``.
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  /// The code ``NSMigrationMissingSourceModelError``.
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  /// The code ``NSMigrationMissingMappingModelError``.
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  /// The code ``NSMigrationManagerSourceStoreError``.
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  /// The code ``NSMigrationManagerDestinationStoreError``.
  public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
  /// The code ``NSEntityMigrationPolicyError``.
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  /// The code ``NSSQLiteError``.
  public static var sqlite: CocoaError.Code { .sqlite }
  /// The code ``NSInferredMappingModelError``.
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  /// The code ``NSExternalRecordImportError``.
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
  /// The code ``NSPersistentHistoryTokenExpiredError``.
  public static var persistentHistoryTokenExpired: CocoaError.Code { .persistentHistoryTokenExpired }
  /// The code ``NSManagedObjectModelReferenceNotFoundError``.
  public static var managedObjectModelReferenceNotFound: CocoaError.Code { .managedObjectModelReferenceNotFound }
  /// The code ``NSStagedMigrationFrameworkVersionMismatchError``.
  public static var stagedMigrationFrameworkVersionMismatch: CocoaError.Code {
    .stagedMigrationFrameworkVersionMismatch
  }
  /// The code ``NSStagedMigrationBackwardMigrationError``.
  public static var stagedMigrationBackwardMigration: CocoaError.Code { .stagedMigrationBackwardMigration }
}
