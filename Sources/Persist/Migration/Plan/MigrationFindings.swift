/// Something that a migration would destroy.
public struct MigrationLoss: Sendable, Hashable {
  public var entity: String
  public var property: String?
  /// What happens, such as `attribute removed`.
  public var what: String
  /// How many rows have a value that goes; nil where no store was looked at.
  public var rows: Int?

  public init(entity: String, property: String? = nil, what: String, rows: Int? = nil) {
    self.entity = entity
    self.property = property
    self.what = what
    self.rows = rows
  }

  /// Whether two losses differ in their figures alone.
  func isSame(as other: MigrationLoss) -> Bool {
    (entity, property, what) == (other.entity, other.property, other.what)
  }
}

/// Something that stands in the way of a migration, and what to do about it.
public struct MigrationBlocker: Sendable, Hashable {
  /// What the migration fails with if it is started all the same.
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
