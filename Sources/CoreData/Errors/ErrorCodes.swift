public import Foundation

// The codes of errors in the domain `NSCocoaErrorDomain`.
public let NSManagedObjectValidationError = 1550
public let NSManagedObjectConstraintValidationError = 1551
public let NSValidationMultipleErrorsError = 1560
public let NSValidationMissingMandatoryPropertyError = 1570
public let NSValidationRelationshipLacksMinimumCountError = 1580
public let NSValidationRelationshipExceedsMaximumCountError = 1590
public let NSValidationRelationshipDeniedDeleteError = 1600
public let NSValidationNumberTooLargeError = 1610
public let NSValidationNumberTooSmallError = 1620
public let NSValidationDateTooLateError = 1630
public let NSValidationDateTooSoonError = 1640
public let NSValidationInvalidDateError = 1650
public let NSValidationStringTooLongError = 1660
public let NSValidationStringTooShortError = 1670
public let NSValidationStringPatternMatchingError = 1680
public let NSValidationInvalidURIError = 1690
public let NSManagedObjectContextLockingError = 132000
public let NSPersistentStoreCoordinatorLockingError = 132010
public let NSManagedObjectReferentialIntegrityError = 133000
public let NSManagedObjectExternalRelationshipError = 133010
public let NSManagedObjectMergeError = 133020
public let NSManagedObjectConstraintMergeError = 133021
public let NSPersistentStoreInvalidTypeError = 134000
public let NSPersistentStoreTypeMismatchError = 134010
public let NSPersistentStoreIncompatibleSchemaError = 134020
public let NSPersistentStoreSaveError = 134030
public let NSPersistentStoreIncompleteSaveError = 134040
public let NSPersistentStoreSaveConflictsError = 134050
public let NSCoreDataError = 134060
public let NSPersistentStoreOperationError = 134070
public let NSPersistentStoreOpenError = 134080
public let NSPersistentStoreTimeoutError = 134090
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
public let NSPersistentStoreIncompatibleVersionHashError = 134100
public let NSMigrationError = 134110
public let NSMigrationConstraintViolationError = 134111
public let NSMigrationCancelledError = 134120
public let NSMigrationMissingSourceModelError = 134130
public let NSMigrationMissingMappingModelError = 134140
public let NSMigrationManagerSourceStoreError = 134150
public let NSMigrationManagerDestinationStoreError = 134160
public let NSEntityMigrationPolicyError = 134170
public let NSSQLiteError = 134180
public let NSInferredMappingModelError = 134190
public let NSExternalRecordImportError = 134200
public let NSPersistentHistoryTokenExpiredError = 134301
public let NSManagedObjectModelReferenceNotFoundError = 134504
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
public let NSStagedMigrationBackwardMigrationError = 134506

// The keys of their user information.
public let NSDetailedErrorsKey = "NSDetailedErrors"
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
public let NSValidationValueErrorKey = "NSValidationErrorValue"
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension CocoaError.Code {
  public static let managedObjectValidation = CocoaError.Code(rawValue: NSManagedObjectValidationError)
  public static let managedObjectConstraintValidation =
    CocoaError.Code(rawValue: NSManagedObjectConstraintValidationError)
  public static let validationMultipleErrors = CocoaError.Code(rawValue: NSValidationMultipleErrorsError)
  public static let validationMissingMandatoryProperty =
    CocoaError.Code(rawValue: NSValidationMissingMandatoryPropertyError)
  public static let validationRelationshipLacksMinimumCount =
    CocoaError.Code(rawValue: NSValidationRelationshipLacksMinimumCountError)
  public static let validationRelationshipExceedsMaximumCount =
    CocoaError.Code(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  public static let validationRelationshipDeniedDelete =
    CocoaError.Code(rawValue: NSValidationRelationshipDeniedDeleteError)
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: NSValidationNumberTooLargeError)
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: NSValidationNumberTooSmallError)
  public static let validationDateTooLate = CocoaError.Code(rawValue: NSValidationDateTooLateError)
  public static let validationDateTooSoon = CocoaError.Code(rawValue: NSValidationDateTooSoonError)
  public static let validationInvalidDate = CocoaError.Code(rawValue: NSValidationInvalidDateError)
  public static let validationStringTooLong = CocoaError.Code(rawValue: NSValidationStringTooLongError)
  public static let validationStringTooShort = CocoaError.Code(rawValue: NSValidationStringTooShortError)
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: NSValidationStringPatternMatchingError)
  public static let validationInvalidURI = CocoaError.Code(rawValue: NSValidationInvalidURIError)
  public static let managedObjectContextLocking = CocoaError.Code(rawValue: NSManagedObjectContextLockingError)
  public static let persistentStoreCoordinatorLocking =
    CocoaError.Code(rawValue: NSPersistentStoreCoordinatorLockingError)
  public static let managedObjectReferentialIntegrity =
    CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError)
  public static let managedObjectExternalRelationship =
    CocoaError.Code(rawValue: NSManagedObjectExternalRelationshipError)
  public static let managedObjectMerge = CocoaError.Code(rawValue: NSManagedObjectMergeError)
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError)
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
  public static let persistentStoreIncompatibleSchema =
    CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
  public static let persistentStoreSave = CocoaError.Code(rawValue: NSPersistentStoreSaveError)
  public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError)
  public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError)
  public static let coreData = CocoaError.Code(rawValue: NSCoreDataError)
  public static let persistentStoreOperation = CocoaError.Code(rawValue: NSPersistentStoreOperationError)
  public static let persistentStoreOpen = CocoaError.Code(rawValue: NSPersistentStoreOpenError)
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
  public static let persistentStoreUnsupportedRequestType =
    CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  public static let persistentStoreIncompatibleVersionHash =
    CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  public static let migration = CocoaError.Code(rawValue: NSMigrationError)
  public static let migrationConstraintViolation = CocoaError.Code(rawValue: NSMigrationConstraintViolationError)
  public static let migrationCancelled = CocoaError.Code(rawValue: NSMigrationCancelledError)
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
  public static let migrationManagerSourceStore = CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError)
  public static let migrationManagerDestinationStore =
    CocoaError.Code(rawValue: NSMigrationManagerDestinationStoreError)
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: NSEntityMigrationPolicyError)
  public static let sqlite = CocoaError.Code(rawValue: NSSQLiteError)
  public static let inferredMappingModel = CocoaError.Code(rawValue: NSInferredMappingModelError)
  public static let externalRecordImport = CocoaError.Code(rawValue: NSExternalRecordImportError)
  public static let persistentHistoryTokenExpired = CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError)
  public static let managedObjectModelReferenceNotFound =
    CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError)
  public static let stagedMigrationFrameworkVersionMismatch =
    CocoaError.Code(rawValue: NSStagedMigrationFrameworkVersionMismatchError)
  public static let stagedMigrationBackwardMigration =
    CocoaError.Code(rawValue: NSStagedMigrationBackwardMigrationError)
}

extension CocoaError {
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  public static var managedObjectConstraintValidation: CocoaError.Code { .managedObjectConstraintValidation }
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
  public static var validationInvalidURI: CocoaError.Code { .validationInvalidURI }
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
  public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
  public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  public static var coreData: CocoaError.Code { .coreData }
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { .persistentStoreIncompatibleVersionHash }
  public static var migration: CocoaError.Code { .migration }
  public static var migrationConstraintViolation: CocoaError.Code { .migrationConstraintViolation }
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  public static var sqlite: CocoaError.Code { .sqlite }
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
  public static var persistentHistoryTokenExpired: CocoaError.Code { .persistentHistoryTokenExpired }
  public static var managedObjectModelReferenceNotFound: CocoaError.Code { .managedObjectModelReferenceNotFound }
  public static var stagedMigrationFrameworkVersionMismatch: CocoaError.Code {
    .stagedMigrationFrameworkVersionMismatch
  }
  public static var stagedMigrationBackwardMigration: CocoaError.Code { .stagedMigrationBackwardMigration }
}
