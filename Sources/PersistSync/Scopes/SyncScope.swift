public import Persist

/// The objects of a server's store that a user's devices get, and those that they may change.
///
/// ```swift
/// let own = try FetchPredicate("owner.name == %@", "ann")
/// let scope = SyncScope([
///   "Note": .init(reading: own, writing: own, following: ["attachments"]),
///   "Category": .init(),
/// ])
/// ```
///
/// Rules of an entity apply to its subentities too, unless these have rules of their own. Entities without a rule are
/// neither sent nor accepted.
public struct SyncScope: Sendable, Hashable {
  /// The rule of one entity.
  public struct Rule: Sendable, Hashable {
    /// The objects that the user gets.
    public var reading: FetchPredicate
    /// The objects that the user may change, as they were before a change and as they are after it; nil for none.
    public var writing: FetchPredicate?
    /// Relationships whose objects the user gets with an object, whatever their own rules. Those without which an
    /// object is invalid, the required to-one relationships, needn't be named.
    public var following: [String]

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - reading: The objects that the user gets; all by default.
    ///   - writing: The objects that the user may change; none by default.
    ///   - following: Relationships whose objects the user gets with an object.
    public init(
      reading: FetchPredicate = FetchPredicate(value: true), writing: FetchPredicate? = nil, following: [String] = []
    ) {
      (self.reading, self.writing, self.following) = (reading, writing, following)
    }
  }

  /// The rules, by entity.
  public var rules: [String: Rule]

  /// Creates a scope from its rules, by entity.
  public init(_ rules: [String: Rule]) { self.rules = rules }

  /// The rule that applies to an entity.
  func rule(of entity: Entity) -> Rule? {
    var line: Entity? = entity
    while let current = line {
      if let rule = rules[current.name] { return rule }
      line = current.superentity
    }
    return nil
  }

  /// Text that differs if the scope does.
  var text: String {
    rules.sorted { $0.key < $1.key }.map { name, rule in
      let writing = rule.writing?.predicateFormat ?? ""
      return "\(name)\u{0}\(rule.reading.predicateFormat)\u{0}\(writing)\u{0}\(rule.following.joined(separator: ","))"
    }.joined(separator: "\u{1}")
  }

  /// - Throws: `PersistenceError.Code.unknownEntity` and `PersistenceError.Code.unknownProperty` for names that the
  ///   model doesn't have.
  func check(_ model: ManagedObjectModel) throws {
    for (name, rule) in rules {
      let entity = try model.entity(named: name)
      for path in rule.following where entity.property(named: path)?.relationship == nil {
        throw PersistenceError(
          .unknownProperty, at: .property(name, path), "'\(name)' has no relationship '\(path)' to follow.",
          fix: "Name relationships of '\(name)'.")
      }
    }
  }
}

/// A change of one object that a user's device has sent, for a server to review.
public struct SyncChange: Sendable {
  /// The kinds of changes.
  public enum Kind: Sendable, Hashable {
    /// A new object, changed values or relationships of an existing one, and the end of one.
    case insertion, update, deletion
  }

  /// The user.
  public var user: String
  /// The kind of the change.
  public var kind: Kind
  /// The name of the object's entity in the server's model.
  public var entityName: String
  /// The object in the server's store; nil for a new one.
  public var objectID: ManagedObjectID?
  /// The new values of changed attributes.
  public var values: [String: StoredValue]
}

/// Changes of one object that a server has refused. The device has the server's state of the object again, or no longer
/// has it.
public struct SyncRefusal: Sendable, Hashable {
  /// The object, if the device had it.
  public var objectID: ManagedObjectID?
  /// The server's reason.
  public var reason: String
}
