/// What a context does when a save meets rows that others changed, or values that must be unique.
///
/// ```swift
/// context.mergePolicy = .mergeByPropertyObjectTrump
/// try context.save()
/// ```
///
/// | policy | others changed the row | others deleted the row | others have the unique value |
/// |---|---|---|---|
/// | ``error`` | the save fails | the save fails | the save fails |
/// | ``mergeByPropertyStoreTrump`` | what both changed is the store's | the object goes | the row's values |
/// | ``mergeByPropertyObjectTrump`` | what both changed is the object's | the row comes back | what was set |
/// | ``overwrite`` | the object's values, changed or not | the row comes back | all of the object's values |
/// | ``rollback`` | the object's changes are dropped | the object goes | the row's values |
///
/// A new object with a unique value that a row has already becomes the object of that row, with the values that the
/// table says, and the members of both; under ``rollback`` it brings no members of many-to-many relationships. Under
/// ``mergeByPropertyObjectTrump`` such an upsert writes only the properties that the program has set on the new object,
/// nil and values that equal the default included. The others keep the row's values: those with a default of the model
/// or of the class, those that `awakeFromInsert` filled, and those that nobody touched. ``overwrite`` writes these too.
/// The row's object, if it is alive in the context, takes all this over, and the new object leaves the context.
///
/// A deletion of a row that others changed stands under ``mergeByPropertyObjectTrump`` and
/// ``overwrite``; under the other two it is taken back, with what it cascaded to.
///
/// Members of to-many relationships are merged one by one: what either side added is in, what either removed is out.
/// The order of an ordered relationship is the object's, or the store's where the policy says that the store wins.
/// Two contexts that only add members to one owner, or remove some, don't conflict, whatever the policy: new members of
/// an ordered relationship go to its end, and the owner shows what the others saved once its own save is done. Members
/// that were put in order, and relationships with bounds for their counts or a validator, are checked like attributes.
///
/// A one-to-one relationship belongs to two rows. ``overwrite`` leaves one that the object didn't change as the others
/// saved it, and a row that comes back is paired again unless its partner has got another one.
///
/// Under ``rollback`` a many-to-many relationship between an object in conflict and one that isn't is kept: it is part
/// of the other object's changes, which are saved whole.
///
/// A policy is looked at only after a store refused a save. What it settles is validated and written again; where that
/// fails, the objects are as they were before the save.
public struct MergePolicy: Sendable {
  /// Which policy it is.
  public enum MergeType: Sendable, Hashable, CaseIterable {
    case error, mergeByPropertyStoreTrump, mergeByPropertyObjectTrump, overwrite, rollback, custom
  }

  /// Which policy it is; ``MergeType/custom`` for one with a resolver.
  public let mergeType: MergeType
  private let resolver: (any ConflictResolver)?

  private init(_ type: MergeType) {
    mergeType = type
    resolver = nil
  }

  /// The save fails with an error that lists every conflict.
  public static let error = MergePolicy(.error)
  /// Property by property; where both sides changed one, the store's value stands.
  public static let mergeByPropertyStoreTrump = MergePolicy(.mergeByPropertyStoreTrump)
  /// Property by property; where both sides changed one, the object's value stands.
  public static let mergeByPropertyObjectTrump = MergePolicy(.mergeByPropertyObjectTrump)
  /// The object's whole state is written over the row.
  public static let overwrite = MergePolicy(.overwrite)
  /// The changes of objects in conflict are dropped.
  public static let rollback = MergePolicy(.rollback)

  /// A policy of the program's own.
  public static func custom(_ resolver: any ConflictResolver) -> MergePolicy { MergePolicy(resolver) }

  private init(_ resolver: any ConflictResolver) {
    mergeType = .custom
    self.resolver = resolver
  }
}

/// Settles the conflicts of a save by the program's own rules.
///
/// Both functions run within the context's isolation, while the save waits: they may read and change its objects. When
/// one returns, every object is saved with the values that it then has, on top of what the store holds: properties that
/// differ from what the object had read are written, all others are the store's. What one throws ends the save.
///
/// ```swift
/// /// Adds up what both sides counted; everything else as the object has it.
/// struct Counting: ConflictResolver {
///   func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
///     for conflict in conflicts {
///       guard case .integer(let before)? = conflict.objectSnapshot?["count"],
///         case .integer(let now)? = conflict.cachedSnapshot?["count"]
///       else { continue }
///       let object = context.object(with: conflict.sourceObjectID)
///       object["count"] = (object["count"] as? Int ?? 0) + Int(now - before)
///     }
///   }
/// }
/// ```
///
/// A function that isn't written throws the conflicts, as ``MergePolicy/error`` does. For those that a resolver has no
/// rule of its own for it calls ``MergePolicy/resolve(_:in:)-(([MergeConflict],_))`` of a policy that has one.
public protocol ConflictResolver: Sendable {
  /// Settles what others changed or deleted meanwhile.
  func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws
  /// Settles values that must be unique. Give the objects other values, delete some, or leave it to a policy.
  func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws
}

extension ConflictResolver {
  public func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    throw PersistenceError(conflicts)
  }

  public func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    throw PersistenceError(conflicts)
  }
}

extension MergePolicy {
  /// Settles what others changed or deleted meanwhile, in the objects of the context; nothing is written.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` for ``error``, what a custom policy throws, the store's errors.
  public func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
    guard let resolver else {
      guard let rule = ConflictRule(mergeType) else { throw PersistenceError(conflicts) }
      var resolution = RowConflictResolution(in: context, by: rule)
      return try resolution.resolve(conflicts)
    }
    try resolver.resolve(conflicts, in: context)
    // What the resolver didn't hand to another policy: the objects' changes stand, on top of what the store holds.
    var resolution = RowConflictResolution(in: context, by: .object)
    try resolution.resolve(conflicts)
  }

  /// Settles values that must be unique, in the objects of the context; nothing is written.
  ///
  /// - Throws: ``PersistenceError/Code/constraintConflict`` for ``error``, what a custom policy throws, the store's
  ///   errors.
  public func resolve(_ conflicts: [ConstraintConflict], in context: ManagedObjectContext) throws {
    if let resolver { return try resolver.resolve(conflicts, in: context) }
    guard let rule = ConflictRule(mergeType) else { throw PersistenceError(conflicts) }
    try ConstraintResolution(in: context, by: rule).resolve(conflicts)
  }
}

/// Who is right where two sides changed the same.
enum ConflictRule {
  case store, object, overwrite, rollback

  /// Nil for policies that have no rule for all cases.
  init?(_ type: MergePolicy.MergeType) {
    switch type {
    case .error, .custom: return nil
    case .mergeByPropertyStoreTrump: self = .store
    case .mergeByPropertyObjectTrump: self = .object
    case .overwrite: self = .overwrite
    case .rollback: self = .rollback
    }
  }

  /// Whether the object's changes outlast those of others.
  var keepsChanges: Bool { self == .object || self == .overwrite }
}
