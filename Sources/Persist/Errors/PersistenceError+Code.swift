extension PersistenceError {
  /// A kind of error: a stable number and a stable name.
  ///
  /// The number is Core Data's if Core Data has one for the same error. A struct instead of an enumeration, so that new
  /// kinds can be added without breaking programs that switch over them.
  public struct Code: Sendable, Hashable {
    /// The number: Core Data's if it has one for the same error, otherwise 900000 or more. It alone determines
    /// equality.
    public let rawValue: Int
    /// The name, such as `mergeConflict`: that of the constant.
    public let name: String

    /// Creates a code, such as one of an application's own. Use a number that no constant here has.
    public init(_ rawValue: Int, _ name: String) {
      self.rawValue = rawValue
      self.name = name
    }

    public static func == (left: Code, right: Code) -> Bool { left.rawValue == right.rawValue }
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
  }
}

extension PersistenceError.Code {
  // Objects and saving
  /// No such object in the store (133000).
  public static let objectNotFound = Self(133000, "objectNotFound")
  /// Another writer changed or deleted a row after it was read (133020).
  public static let mergeConflict = Self(133020, "mergeConflict")
  /// A uniqueness constraint is violated (133021).
  public static let constraintConflict = Self(133021, "constraintConflict")

  // Stores
  /// The store has a different type than requested (134010).
  public static let storeTypeMismatch = Self(134010, "storeTypeMismatch")
  /// Saving failed in the store (134030).
  public static let saveFailed = Self(134030, "saveFailed")
  /// Opening a store failed (134080).
  public static let storeOpenFailed = Self(134080, "storeOpenFailed")
  /// The store was written with a different model (134100).
  public static let incompatibleModel = Self(134100, "incompatibleModel")
  /// A migration failed; the store is unchanged (134110).
  public static let migrationFailed = Self(134110, "migrationFailed")
  /// A migration was canceled; the store is unchanged (134120).
  public static let migrationCancelled = Self(134120, "migrationCancelled")
  /// None of the known models is the one that the store was written with (134130).
  public static let missingSourceModel = Self(134130, "missingSourceModel")
  /// The step between two versions needs a mapping model, and none exists (134140).
  public static let missingMappingModel = Self(134140, "missingMappingModel")
  /// The differences between two models can't be turned into a migration (134190).
  public static let mappingNotInferable = Self(134190, "mappingNotInferable")
  /// A history token is too old: transactions after it were deleted, or changes weren't recorded for a while.
  public static let historyTokenExpired = Self(134301, "historyTokenExpired")

  // Validation
  /// A value violates a rule of its property (1550).
  public static let validationRule = Self(1550, "validationRule")
  /// Several validation errors at once; see ``PersistenceError/errors`` (1560).
  public static let validationMultiple = Self(1560, "validationMultiple")
  /// A required property has no value (1570).
  public static let validationMissingRequired = Self(1570, "validationMissingRequired")
  /// A relationship has fewer objects than its minimum (1580).
  public static let validationTooFewObjects = Self(1580, "validationTooFewObjects")
  /// A relationship has more objects than its maximum (1590).
  public static let validationTooManyObjects = Self(1590, "validationTooManyObjects")
  /// A delete rule denies the deletion (1600).
  public static let validationDeleteDenied = Self(1600, "validationDeleteDenied")
  /// A number is above its maximum (1610).
  public static let validationNumberTooLarge = Self(1610, "validationNumberTooLarge")
  /// A number is below its minimum (1620).
  public static let validationNumberTooSmall = Self(1620, "validationNumberTooSmall")
  /// A date is after its maximum (1630).
  public static let validationDateTooLate = Self(1630, "validationDateTooLate")
  /// A date is before its minimum (1640).
  public static let validationDateTooSoon = Self(1640, "validationDateTooSoon")
  /// A string is longer than its maximum (1660).
  public static let validationStringTooLong = Self(1660, "validationStringTooLong")
  /// A string is shorter than its minimum (1670).
  public static let validationStringTooShort = Self(1670, "validationStringTooShort")
  /// A string doesn't match its pattern (1680).
  public static let validationStringPattern = Self(1680, "validationStringPattern")

  // Persist's own
  /// SQLite reported an error that has no specific code here (900000).
  public static let sqlite = Self(900_000, "sqlite")
  /// Another connection or process has locked the store and the wait timed out (900001).
  public static let storeBusy = Self(900_001, "storeBusy")
  /// The disk or a quota is full (900002).
  public static let diskFull = Self(900_002, "diskFull")
  /// The file is damaged or isn't an SQLite database (900003).
  public static let storeDamaged = Self(900_003, "storeDamaged")
  /// The file is an SQLite database, but not a store with this layout (900004).
  public static let notAStore = Self(900_004, "notAStore")
  /// A write was requested on a read-only store (900005).
  public static let storeReadOnly = Self(900_005, "storeReadOnly")
  /// A file is missing or can't be read or written (900006).
  public static let fileAccess = Self(900_006, "fileAccess")
  /// A file isn't in the format that its name or location implies (900007).
  public static let malformedFile = Self(900_007, "malformedFile")
  /// A file is larger or more deeply nested than a reader accepts (900008).
  public static let limitExceeded = Self(900_008, "limitExceeded")
  /// The operation was canceled or interrupted (900009).
  public static let interrupted = Self(900_009, "interrupted")
  /// A model isn't valid (900010).
  public static let invalidModel = Self(900_010, "invalidModel")
  /// A model, or the requested version of it, wasn't found (900011).
  public static let modelNotFound = Self(900_011, "modelNotFound")
  /// Two elements claim the same source element (900012).
  public static let mappingAmbiguous = Self(900_012, "mappingAmbiguous")
  /// The store's version is newer than the application's, and downgrading would lose values (900013).
  public static let newerStore = Self(900_013, "newerStore")
  /// The file of an open store was deleted, or now contains another store (900014).
  public static let storeExchanged = Self(900_014, "storeExchanged")
  /// The state of a store to which a context is pinned is no longer available (900015).
  public static let queryGenerationExpired = Self(900_015, "queryGenerationExpired")
  /// A database server reported an error that has no specific code here (900016).
  public static let serverFailed = Self(900_016, "serverFailed")
  /// The connection to a database server was lost; nothing that was being saved is stored (900017).
  public static let connectionLost = Self(900_017, "connectionLost")
  /// A store can't be decrypted with the given key, is encrypted and no key was given, or isn't encrypted and one was
  /// given (900018).
  public static let wrongKey = Self(900_018, "wrongKey")
  /// A key was given, and the program's SQLite library can't encrypt (900019).
  public static let encryptionUnavailable = Self(900_019, "encryptionUnavailable")
  /// The model has no entity of that name (900020).
  public static let unknownEntity = Self(900_020, "unknownEntity")
  /// The entity has no property of that name (900021).
  public static let unknownProperty = Self(900_021, "unknownProperty")
  /// A value's type isn't one that the property accepts (900022).
  public static let typeMismatch = Self(900_022, "typeMismatch")
  /// A request can't be executed as specified (900023).
  public static let invalidRequest = Self(900_023, "invalidRequest")
  /// An object belongs to another context or coordinator, or to none (900024).
  public static let foreignObject = Self(900_024, "foreignObject")
  /// A predicate or expression can't be parsed, or can't be evaluated as written (900030).
  public static let invalidPredicate = Self(900_030, "invalidPredicate")
  /// A migration's SQL file was edited after it was applied (900040).
  public static let migrationFileChanged = Self(900_040, "migrationFileChanged")
  /// A migration is older than one that has already been applied, and the options refuse that (900041).
  public static let migrationOutOfOrder = Self(900_041, "migrationOutOfOrder")
  /// Another program started to migrate the store and didn't finish (900042).
  public static let migrationUnfinished = Self(900_042, "migrationUnfinished")
  /// A released model version, which users' stores may have, was changed or removed (900043).
  public static let releasedVersionChanged = Self(900_043, "releasedVersionChanged")
  /// The text of an identifier isn't valid for this coordinator (900025).
  public static let invalidIdentifier = Self(900_025, "invalidIdentifier")
}
