/// Something that a migration would destroy.
public struct MigrationLoss: Sendable, Hashable {
  public var entity: String
  public var property: String?
  /// A description, such as `attribute removed`.
  public var what: String
  /// The number of rows whose value is lost; nil if no store was examined.
  public var rows: Int?

  public init(entity: String, property: String? = nil, what: String, rows: Int? = nil) {
    self.entity = entity
    self.property = property
    self.what = what
    self.rows = rows
  }

  /// Whether two losses differ only in their numbers.
  func isSame(as other: MigrationLoss) -> Bool {
    (entity, property, what) == (other.entity, other.property, other.what)
  }
}

/// An obstacle to a migration, and a way to resolve it.
public struct MigrationBlocker: Sendable, Hashable {
  /// The code of the error with which the migration would fail.
  public var code: PersistenceError.Code
  public var entity: String?
  public var property: String?
  public var what: String
  public var fix: String

  public init(
    _ code: PersistenceError.Code = .mappingNotInferable, entity: String? = nil, property: String? = nil, what: String,
    fix: String
  ) {
    self.code = code
    self.entity = entity
    self.property = property
    self.what = what
    self.fix = fix
  }

  /// The blocker as an error.
  public var error: PersistenceError {
    PersistenceError(code, at: PersistenceError.Place(entity: entity, property: property), what, fix: fix)
  }
}
