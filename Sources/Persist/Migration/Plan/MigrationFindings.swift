/// Something that a migration would destroy.
public struct MigrationLoss: Sendable, Hashable {
  /// The name of the entity whose rows lose something.
  public var entity: String
  /// The name of the lost attribute or relationship; nil if whole rows are lost.
  public var property: String?
  /// A description, such as `attribute removed`.
  public var what: String
  /// The number of rows whose value is lost; nil if no store was examined.
  public var rows: Int?

  /// Creates a loss, with the number of affected rows if a store was examined.
  @inline(never)
  init(entity: String, property: String? = nil, what: String, rows: Int? = nil) {
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
  /// The name of the entity that can't be migrated; nil if the obstacle isn't one of a particular entity.
  public var entity: String?
  /// The name of the attribute or relationship that can't be migrated; nil if the entity as a whole can't.
  public var property: String?
  /// A sentence about the obstacle, the message of ``error``.
  public var what: String
  /// A sentence about what to change, in the model or in the store.
  public var fix: String

  /// Creates a blocker.
  ///
  /// - Parameters:
  ///   - code: The code of the error with which the migration would fail.
  ///   - entity: The name of the entity concerned.
  ///   - property: The name of the property concerned.
  ///   - what: A sentence about the obstacle.
  ///   - fix: A sentence about what to change.
  @inline(never)
  init(
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
